// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tick.hpp"

#include "distributed/nccl/watch.hpp"

#include <atomic>
#include <cstdint>

namespace furrow::gpu {

/// What kernels note beside the vectors.
struct nccl_notes {
  std::uint64_t waited; ///< nanoseconds, for sums
  std::uint64_t began;  ///< the last of them
  nccl::counts of;
};

/// What the host and kernels tell each other while these run, in its memory: counts, and that it is over.
class way_to_notes {
public:
  explicit way_to_notes(nccl_notes* there) : there_(there) {
    void* home = nullptr;
    check(runtime::take_pinned(&home, sizeof *home_));
    home_ = static_cast<seen_here*>(home);
    *home_ = {};
  }
  way_to_notes(const way_to_notes&) = delete;
  ~way_to_notes() { runtime::release_pinned(home_); }

  /// By any thread; asks nothing of the device.
  nccl::counts counts() const {
    const auto now = [&](std::uint64_t& count) { return std::atomic_ref(count).load(); };
    nccl::counts& of = home_->of;
    return {now(of.sums_begun), now(of.sums_ended), now(of.halos_begun), now(of.halos_ended)};
  }
  tick counting(std::uint64_t nccl::counts::*which) const { return {&(there_->of.*which), &(home_->of.*which)}; }
  /// Not 0 from `say_over` on: nobody comes any more. For kernels.
  const std::uint64_t* over() const { return &home_->over; }
  void say_over() const { std::atomic_ref(home_->over).store(1); }

private:
  struct seen_here {
    nccl::counts of;
    std::uint64_t over;
  };

  nccl_notes* there_;
  seen_here* home_ = nullptr;
};

} // namespace furrow::gpu
