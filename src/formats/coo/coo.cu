// SPDX-License-Identifier: BSD-3-Clause
#include "segmented.hpp"

#include "backends/gpu/operator.hpp"

#include <furrow/formats.hpp>

namespace furrow::coo_format {
namespace {

template <class V> class triplets_on_gpu final : public gpu::stored_operator<V, triplets<V, gpu_array>> {
  using base = gpu::stored_operator<V, triplets<V, gpu_array>>;
  using base::matrix_;

public:
  explicit triplets_on_gpu(const triplets<V, host_array>& a) : base(upload(a)), product_(a.val.size()) {}

  std::string kernel() const override { return "segmented"; }

  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    const gpu::selected_device here(this->where().ordinal);
    multiply(V(1), x, V(0), y);
    gpu::space<V>{}.dot(x, y, xy); // rows are finished out of order here, so x . y takes a pass of its own
  }

private:
  void multiply(V alpha, cview<V> x, V beta, view<V> y) const override {
    gpu::space<V>{}.sweep(y.size, gpu::scale_by_step<V>{beta, y});
    product_.add(view_of(matrix_), alpha, x, y);
  }

  segmented_sum<V> product_;
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view) {
  return std::make_unique<triplets_on_gpu<V>>(
      triplets<V, host_array>{a.shape, std::move(a.row), std::move(a.col), std::move(a.val)});
}

template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::coo_format
