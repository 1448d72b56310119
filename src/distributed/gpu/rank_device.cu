// SPDX-License-Identifier: BSD-3-Clause
#include "rank_device.hpp"

#include "operator.hpp"
#include "own_queue.hpp"

#include "distributed/together.hpp"

namespace furrow {
namespace gpu {
namespace {

class device_with_link final : public rank_device {
public:
  explicit device_with_link(communicator& c) : queue_(c.where()) {
    const entered here(queue_.get());
    link_ = open_link(c);
  }
  ~device_with_link() override {
    const entered here(queue_.get());
    link_.reset();
  }

  std::unique_ptr<scope> enter() const override { return std::make_unique<entered>(queue_.get()); }
  link& between() const override { return *link_; }
  std::string way() const override { return link_->way(); }
  void check() const override { link_->check(); }
  void leave() noexcept override { link_->leave(); }
  std::unique_ptr<operator_of_rank<double>> make_operator(communicator& c, rows_of_rank<double>& rows,
                                                          std::unique_ptr<any_operator<double>> own) override {
    return make_as(c, rows, std::move(own));
  }
  std::unique_ptr<operator_of_rank<float>> make_operator(communicator& c, rows_of_rank<float>& rows,
                                                         std::unique_ptr<any_operator<float>> own) override {
    return make_as(c, rows, std::move(own));
  }

private:
  class entered final : public scope {
  public:
    explicit entered(const queue& q) : device_(q.ordinal), queue_(q) {}

  private:
    selected_device device_;
    used_queue queue_;
  };

  template <class V>
  std::unique_ptr<operator_of_rank<V>> make_as(communicator& c, rows_of_rank<V>& rows,
                                               std::unique_ptr<any_operator<V>> own) {
    auto halo = link_->make_halo(rows.plan, V());
    std::unique_ptr<operator_of_rank<V>> made;
    together(
        c, [&] { made = std::make_unique<rank_operator_on_gpu<V>>(c, rows, std::move(own), *link_, std::move(halo)); });
    return made;
  }

  own_queue_of_rank queue_;
  std::unique_ptr<link> link_;
};

} // namespace
} // namespace gpu

std::unique_ptr<rank_device> rank_device::open(communicator& c) {
  if (!c.where().is_gpu()) return nullptr;
  return std::make_unique<gpu::device_with_link>(c);
}

} // namespace furrow
