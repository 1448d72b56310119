// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/queue.hpp"
#include "distributed/nccl/watch.hpp"

#include <cstddef>
#include <cstdint>

namespace furrow::gpu {

/// What kernels note beside the vectors.
struct nccl_notes {
  std::uint64_t waited; ///< nanoseconds, for sums
  std::uint64_t began;  ///< the last of them
  nccl::counts of;
  std::uint64_t over; ///< the host says that nobody comes any more
};

/// The host's way to the notes while kernels run: a stream of its own.
class way_to_notes {
public:
  way_to_notes(int ordinal, nccl_notes* there) : ordinal_(ordinal), there_(there) {
    void* home = nullptr;
    check(runtime::take_pinned(&home, sizeof *home_));
    home_ = static_cast<nccl_notes*>(home);
    *home_ = {};
    home_->over = 1;
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
    move(&home_->of, &there_->of, sizeof home_->of, runtime::way::to_host);
    return home_->of;
  }
  void say_over() const { move(&there_->over, &home_->over, sizeof home_->over, runtime::way::to_device); }

private:
  void move(void* to, const void* from, std::size_t bytes, runtime::way way) const {
    runtime::choose_device(ordinal_);
    if (runtime::copy(to, from, bytes, way, stream_) == runtime::success) runtime::wait(stream_);
  }

  int ordinal_;
  nccl_notes* there_;
  nccl_notes* home_ = nullptr;
  runtime::stream stream_ = nullptr;
};

} // namespace furrow::gpu
