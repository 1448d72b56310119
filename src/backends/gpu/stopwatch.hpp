// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// The time between two places of a queue, by the device's own clock.
class stopwatch {
public:
  stopwatch() {
    check(runtime::make_timed_event(&begin_));
    check(runtime::make_timed_event(&end_));
  }
  stopwatch(const stopwatch&) = delete;
  ~stopwatch() {
    runtime::end(begin_);
    runtime::end(end_);
  }

  void start(const queue& q) const { check(runtime::record(begin_, q.stream)); }
  /// Seconds since `start`. Waits for what is enqueued.
  double stop(const queue& q) const {
    float milliseconds = 0;
    check(runtime::record(end_, q.stream));
    check(runtime::wait(end_));
    check(runtime::milliseconds_between(begin_, end_, &milliseconds));
    return 1e-3 * milliseconds;
  }

private:
  runtime::event begin_ = nullptr, end_ = nullptr;
};

/// What a device's memory and multiprocessors could do at best.
struct clocks {
  double memory_hertz, bus_bytes, hertz;
};
inline clocks clocks_of(const queue& q) {
  const auto attribute = [&](runtime::property what) {
    int value = 0;
    check(runtime::ask(what, q.ordinal, &value));
    return double(value);
  };
  return {1e3 * attribute(runtime::property::memory_kilohertz), attribute(runtime::property::bus_bits) / 8,
          1e3 * attribute(runtime::property::kilohertz)};
}

} // namespace furrow::gpu
