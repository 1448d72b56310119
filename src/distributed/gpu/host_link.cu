// SPDX-License-Identifier: BSD-3-Clause
// Sums and halos through pinned memory of the host, which kernels read and write, and the ranks' communicator.
#include "link.hpp"
#include "pack.hpp"

#include "backends/gpu/launch.hpp"
#include "core/clock.hpp"
#include "distributed/bytes.hpp"

namespace furrow::gpu {
namespace {

/// Elements of host memory that kernels read and write.
template <class T> class pinned_array {
public:
  explicit pinned_array(index_t n) : size_(n) {
    void* data = nullptr;
    if (n > 0) check(runtime::take_pinned(&data, sizeof(T) * std::size_t(n)));
    data_ = static_cast<T*>(data);
  }
  pinned_array(const pinned_array&) = delete;
  ~pinned_array() {
    if (data_) runtime::release_pinned(data_);
  }
  T* data() const { return data_; }
  view<T> all() const { return {data_, size_}; }

private:
  T* data_ = nullptr;
  index_t size_;
};

__global__ void bring_sums_kernel(few_sums sums, double* home) {
  take_turn();
  const int k = int(threadIdx.x);
  if (k >= sums.count) return;
  const sum_over_ranks s = sums.of[k];
  home[k] = s.more.at ? *s.mine.at + *s.more.at : *s.mine.at;
}
__global__ void take_sums_kernel(few_sums sums, const double* home) {
  take_turn();
  if (int(threadIdx.x) < sums.count) *sums.of[threadIdx.x].to.at = home[threadIdx.x];
}

/// home[0] <- count, then the numbers.
__global__ void bring_many_kernel(const double* first, const double* count, const double* last, double* home) {
  take_turn();
  const int n = int(*count);
  for (int k = int(threadIdx.x); k < n; k += int(blockDim.x)) home[1 + k] = first[k];
  if (threadIdx.x == 0) home[0] = n, home[1 + n] = *last;
}
__global__ void take_many_kernel(double* first, const double* count, double* last, const double* home) {
  take_turn();
  const int n = int(*count);
  for (int k = int(threadIdx.x); k < n; k += int(blockDim.x)) first[k] = home[1 + k];
  if (threadIdx.x == 0) *last = home[1 + n];
}

template <class V> class host_halo final : public halo_on_gpu<V> {
public:
  host_halo(communicator& c, const halo_plan& plan, double& waited)
      : c_(c), waited_(waited), rows_(plan.rows_sent), there_(plan.columns.size()), packed_(plan.rows_sent.size()),
        came_(plan.columns.size()) {
    for (const auto& s : plan.sends) out_.push_back({s.rank, bytes_of(cview<V>(packed_.data() + s.first, s.count))});
    for (const auto& r : plan.receives) in_.push_back({r.rank, bytes_of(view<V>(came_.data() + r.first, r.count))});
    check(runtime::make_event(&ready_));
  }
  host_halo(const host_halo&) = delete;
  ~host_halo() override { runtime::end(ready_); }

  void start(cview<V> x, const queue& q) override {
    if (!rows_.empty()) pack(rows_, x, packed_.data(), {}, q);
    check(runtime::record(ready_, q.stream));
  }
  arriving<V> finish() override {
    check(runtime::wait(ready_)); // what was packed, and not the product that was enqueued since
    const double began = now();
    c_.start(out_, in_);
    c_.finish();
    waited_ += now() - began;
    const std::size_t bytes = sizeof(V) * std::size_t(there_.size());
    if (bytes)
      check(runtime::copy(there_.data(), came_.data(), bytes, runtime::way::to_device, current_queue().stream));
    arriving<V> here;
    here.there = there_.data();
    return here;
  }

private:
  communicator& c_;
  double& waited_;
  gpu_array<std::int32_t> rows_;
  gpu_array<V> there_;
  pinned_array<V> packed_, came_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
  runtime::event ready_ = nullptr;
};

class host_link final : public link {
public:
  host_link(communicator& c, std::string because)
      : c_(c), because_(std::move(because)), home_(index_t(most_basis) + 2) {}

  void add(std::span<const sum_over_ranks> sums) override {
    const queue& q = current_queue();
    few_sums few{{}, int(sums.size())};
    std::copy(sums.begin(), sums.end(), few.of);
    launch(bring_sums_kernel, 1, warp, 0, q, few, home_.data());
    wait(q);
    over_ranks({home_.data(), few.count});
    launch(take_sums_kernel, 1, warp, 0, q, few, static_cast<const double*>(home_.data()));
  }
  void add(slot first, slot count, slot last) override {
    const queue& q = current_queue();
    const double *const from = first.at, *const many = count.at, *const one = last.at, *const home = home_.data();
    launch(bring_many_kernel, 1, 128, 0, q, from, many, one, home_.data());
    wait(q);
    over_ranks({home_.data() + 1, index_t(*home_.data()) + 1});
    launch(take_many_kernel, 1, 128, 0, q, first.at, many, last.at, home);
  }
  bool waits() const override { return true; }
  void check() const override {}

  std::unique_ptr<halo_on_gpu<double>> make_halo(const halo_plan& plan, double) override { return halo<double>(plan); }
  std::unique_ptr<halo_on_gpu<float>> make_halo(const halo_plan& plan, float) override { return halo<float>(plan); }
  std::string way() const override { return "the host: " + because_; }
  double waited() const override { return waited_; }

private:
  template <class V> std::unique_ptr<halo_on_gpu<V>> halo(const halo_plan& plan) {
    return std::make_unique<host_halo<V>>(c_, plan, waited_);
  }
  void over_ranks(view<double> numbers) {
    const double began = now();
    c_.sum(numbers);
    waited_ += now() - began;
  }

  communicator& c_;
  std::string because_;
  pinned_array<double> home_; ///< the next sum's numbers are written when this one's have been read: one stream
  double waited_ = 0;
};

} // namespace

std::unique_ptr<link> link_through_host(communicator& c, std::string because) {
  return std::make_unique<host_link>(c, std::move(because));
}

} // namespace furrow::gpu
