// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// The time between two places of a queue, by the device's own clock.
class stopwatch {
public:
  stopwatch() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  stopwatch(const stopwatch&) = delete;
  ~stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  void start(const queue& q) const { check(cudaEventRecord(begin_, q.stream)); }
  /// Seconds since `start`. Waits for what is enqueued.
  double stop(const queue& q) const {
    float milliseconds = 0;
    check(cudaEventRecord(end_, q.stream));
    check(cudaEventSynchronize(end_));
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * milliseconds;
  }

private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

/// What a device's memory and multiprocessors could do at best.
struct clocks {
  double memory_hertz, bus_bytes, hertz;
};
inline clocks clocks_of(const queue& q) {
  const auto attribute = [&](cudaDeviceAttr what) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, what, q.ordinal));
    return double(value);
  };
  return {1e3 * attribute(cudaDevAttrMemoryClockRate), attribute(cudaDevAttrGlobalMemoryBusWidth) / 8,
          1e3 * attribute(cudaDevAttrClockRate)};
}

} // namespace furrow::gpu
