// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/queue.hpp"
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

/// The host's way to the notes while kernels run, a stream of its own, and a word in its memory that they read.
class way_to_notes {
public:
  way_to_notes(int ordinal, nccl_notes* there) : ordinal_(ordinal), there_(there) {
    void* home = nullptr;
    check(runtime::take_pinned(&home, sizeof *home_));
    home_ = static_cast<seen_here*>(home);
    *home_ = {};
    check(runtime::make_stream(&stream_));
  }
  way_to_notes(const way_to_notes&) = delete;
  ~way_to_notes() {
    runtime::end(stream_);
    runtime::release_pinned(home_);
  }
  /// By one thread, which need not be the rank's. What was seen last, where the device has failed: that is noticed
  /// elsewhere.
  nccl::counts counts() const {
    runtime::choose_device(ordinal_);
    if (runtime::copy(&home_->of, &there_->of, sizeof home_->of, runtime::way::to_host, stream_) == runtime::success)
      runtime::wait(stream_);
    return home_->of;
  }
  /// Not 0 from `say_over` on: nobody comes any more. For kernels.
  const std::uint64_t* over() const { return &home_->over; }
  void say_over() const { std::atomic_ref(home_->over).store(1); }

private:
  struct seen_here {
    nccl::counts of;
    std::uint64_t over;
  };

  int ordinal_;
  nccl_notes* there_;
  seen_here* home_ = nullptr;
  runtime::stream stream_ = nullptr;
};

} // namespace furrow::gpu
