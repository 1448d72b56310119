// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/run.hpp"

#include "core/clock.hpp"

#include <furrow/solve.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace furrow {

/// The callbacks of a caller, one call at a time, and what they said; and the time that is left for all systems.
class shared_callbacks {
public:
  explicit shared_callbacks(const solve_options& o) : given_(o), began_(now()) {}

  bool stopped() const { return stopped_; }
  bool out_of_time() const { return now() - began_ > given_.time_limit; }
  /// For one system: what is left of the time, and callbacks that come here.
  solve_options options() {
    solve_options o = given_;
    if (std::isfinite(o.time_limit)) o.time_limit = std::max(0.0, o.time_limit - (now() - began_));
    if (given_.watch || given_.monitor || given_.cancelled) {
      o.watch = [this](const progress& p) { return goes_on(p); };
      o.cancelled = [this] { return cancelled(); };
    }
    if (given_.monitor)
      o.monitor = [this](const progress& p, cview<double> x) {
        return unless_stopped([&] { return given_.monitor(p, x); });
      };
    if (given_.announce) o.announce = [this](const memory_estimate& m) { announce(m); };
    return o;
  }

  /// Whether nobody has said stop, the watcher included.
  bool goes_on(const progress& p) {
    return unless_stopped([&] { return !given_.watch || given_.watch(p); });
  }
  bool cancelled() {
    return !unless_stopped([&] { return !given_.cancelled || !given_.cancelled(); });
  }
  void announce(const memory_estimate& m) {
    const std::lock_guard lock(one_at_a_time_);
    if (given_.announce) given_.announce(m);
  }

private:
  template <class Ask> bool unless_stopped(const Ask& ask) {
    if (stopped_) return false;
    const std::lock_guard lock(one_at_a_time_);
    if (!stopped_ && !ask()) stopped_ = true;
    return !stopped_;
  }

  const solve_options& given_;
  const double began_;
  std::mutex one_at_a_time_;
  std::atomic<bool> stopped_{false};
};

} // namespace furrow
