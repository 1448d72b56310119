// SPDX-License-Identifier: BSD-3-Clause
// Sums and halos by NCCL, enqueued as kernels are: the host takes no part, and graphs hold them.
#include "nccl_halo.hpp"

#include "backends/gpu/launch.hpp"

#include <algorithm>
#include <chrono>

namespace furrow::gpu {
namespace {

/// Numbers that go to one sum: those of the longest basis, and the square beside them.
constexpr int most_numbers = int(most_basis) + 1;

/// Where the numbers of all ranks for a sum meet: `count` of each, one rank after the other.
struct meeting {
  double* numbers;
  nccl_notes* note;
  tick begun, ended;
  const std::uint64_t* nobody_comes; ///< in the memory of the host
  int ranks, rank;

  __device__ double* mine(int count) const { return numbers + index_t(rank) * count; }
  /// NaN when it is over: a loop ends with the step then, where each exchange of a step would take NCCL's kernels
  /// 10,000 looks before they see that they were aborted.
  __device__ double total(int k, int count) const {
    const bool over = get_of_all(nobody_comes) != 0;
    double sum = numbers[k];
    for (int r = 1; r < ranks; ++r) sum += numbers[index_t(r) * count + k];
    return over ? double(NAN) : sum;
  }
  __device__ void begin() const { note->began = nanoseconds(), begun.raise(); }
  __device__ void end() const { note->waited += nanoseconds() - note->began, ended.raise(); }
};

struct numbers_of_sums {
  sum_over_ranks of[max_sums];
  int count;
};

__global__ void bring_sums_to_ranks_kernel(meeting at, numbers_of_sums sums) {
  take_turn();
  const int k = int(threadIdx.x);
  if (k < sums.count) {
    const sum_over_ranks s = sums.of[k];
    at.mine(sums.count)[k] = s.more.at ? *s.mine.at + *s.more.at : *s.mine.at;
  }
  if (k == 0) at.begin();
}
__global__ void take_sums_of_ranks_kernel(meeting at, numbers_of_sums sums) {
  take_turn();
  const int k = int(threadIdx.x);
  if (k < sums.count) *sums.of[k].to.at = at.total(k, sums.count);
  if (k == 0) at.end();
}

/// The numbers first, then the last one; what is behind it nobody reads.
__global__ void bring_many_to_ranks_kernel(meeting at, const double* first, const double* count, const double* last) {
  take_turn();
  const int n = int(*count);
  double* const to = at.mine(most_numbers);
  for (int k = int(threadIdx.x); k < n; k += int(blockDim.x)) to[k] = first[k];
  if (threadIdx.x == 0) to[n] = *last, at.begin();
}
__global__ void take_many_of_ranks_kernel(meeting at, double* first, const double* count, double* last) {
  take_turn();
  const int n = int(*count);
  for (int k = int(threadIdx.x); k < n; k += int(blockDim.x)) first[k] = at.total(k, most_numbers);
  if (threadIdx.x == 0) *last = at.total(n, most_numbers), at.end();
}

class nccl_link final : public link {
public:
  nccl_link(communicator& c, const nccl::library& by, std::chrono::milliseconds patience)
      : end_(nccl::ending_of_process(c)), group_(with_device_chosen(by), c),
        note_(sizeof(nccl_notes) / sizeof(std::uint64_t)), numbers_(index_t(c.size()) * most_numbers),
        from_host_(notes_there()) {
    fill_bytes(note_, 0);
    fill_bytes(numbers_, 0);
    at_ = {numbers_.data(),
           notes_there(),
           from_host_.counting(&nccl::counts::sums_begun),
           from_host_.counting(&nccl::counts::sums_ended),
           from_host_.over(),
           c.size(),
           c.rank()};
    wait(current_queue());
    nccl::watch::who who;
    who.look = [this] { return from_host_.counts(); };
    who.failure = [this] { return group_.failure(); };
    who.give_up = [this] {
      from_host_.say_over();
      group_.abort();
    };
    who.name = "gpu:" + std::to_string(c.where().ordinal) + " (rank " + std::to_string(c.rank()) + ")";
    watch_ = std::make_unique<nccl::watch>(end_, std::move(who), patience);
    try {
      for (const int count : {1, most_numbers}) gather(count, current_queue()); // NCCL connects them, outside of graphs
      wait(current_queue());
      end_->check();
    } catch (...) {
      group_.abort();
      throw;
    }
  }
  ~nccl_link() override {
    try {
      wait(current_queue());
    } catch (const error&) {
    }
    watch_.reset();
    if (end_->has_come()) group_.abort();
  }

  void add(std::span<const sum_over_ranks> sums) override {
    const queue& q = current_queue();
    numbers_of_sums few{{}, int(sums.size())};
    std::copy(sums.begin(), sums.end(), few.of);
    launch(bring_sums_to_ranks_kernel, 1, warp, 0, q, at_, few);
    gather(few.count, q);
    launch(take_sums_of_ranks_kernel, 1, warp, 0, q, at_, few);
  }
  void add(slot first, slot count, slot last) override {
    const queue& q = current_queue();
    const double *const from = first.at, *const many = count.at, *const one = last.at;
    launch(bring_many_to_ranks_kernel, 1, 128, 0, q, at_, from, many, one);
    gather(most_numbers, q);
    launch(take_many_of_ranks_kernel, 1, 128, 0, q, at_, first.at, many, last.at);
  }
  bool waits() const override { return false; }
  bool graphs_may_be_refused() const override { return true; }
  void check() const override { end_->check(); }
  void leave() noexcept override { end_->say("the solve of another rank has ended"); }

  std::unique_ptr<halo_on_gpu<double>> make_halo(const halo_plan& plan, double) override { return halo<double>(plan); }
  std::unique_ptr<halo_on_gpu<float>> make_halo(const halo_plan& plan, float) override { return halo<float>(plan); }
  std::string way() const override { return group_.by().name(); }
  double waited() const override {
    nccl_notes seen{};
    copy_bytes(host_memory{}, &seen, gpu_memory{}, note_.data(), sizeof seen);
    return 1e-9 * double(seen.waited);
  }

private:
  /// NCCL takes the GPU that the thread has.
  static const nccl::library& with_device_chosen(const nccl::library& by) {
    current_queue();
    return by;
  }
  template <class V> std::unique_ptr<halo_on_gpu<V>> halo(const halo_plan& plan) {
    auto made = std::make_unique<nccl_halo<V>>(group_, *end_, plan, beside_, from_host_);
    end_->check();
    return made;
  }
  /// In place: each rank's numbers lie where all are to see them.
  void gather(int count, const queue& q) {
    end_->check();
    group_.gather(numbers_.data() + index_t(at_.rank) * count, numbers_.data(), std::size_t(count), q.stream);
  }
  nccl_notes* notes_there() { return reinterpret_cast<nccl_notes*>(note_.data()); }

  std::shared_ptr<nccl::ending> end_;
  nccl::group group_;
  gpu_array<std::uint64_t> note_; ///< `nccl_notes`
  gpu_array<double> numbers_;
  side_stream beside_;
  way_to_notes from_host_;
  meeting at_{};
  std::unique_ptr<nccl::watch> watch_; ///< ends first
};

} // namespace

std::unique_ptr<link> link_by_nccl(communicator& c, const nccl::library& by, std::chrono::milliseconds patience) {
  return std::make_unique<nccl_link>(c, by, patience);
}

} // namespace furrow::gpu
