// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace furrow {

/// While it lives, set-ups of this thread that take long ask whether to go on; what is answered ends them.
class stops_set_up {
public:
  using question = std::function<std::optional<refusal>()>;
  explicit stops_set_up(question ask) : ask_(std::move(ask)), before_(std::exchange(current(), &ask_)) {}
  ~stops_set_up() { current() = before_; }
  stops_set_up(const stops_set_up&) = delete;
  stops_set_up& operator=(const stops_set_up&) = delete;

  /// For a loop over rows: asks at every sixteenth.
  static void at_row(index_t i) {
    if (i % 16 != 0 || !current()) return;
    if (auto r = (*current())()) throw refusal(std::move(*r));
  }

private:
  static const question*& current() {
    thread_local const question* one = nullptr;
    return one;
  }
  question ask_;
  const question* before_;
};

/// While it lives, complete factors that this thread makes may take so many operations of floating point, and are
/// refused beyond (status::max_iterations); `at_most()`: of the one that was made last.
class bounds_operations {
public:
  explicit bounds_operations(double most) : before_(std::exchange(current(), most)) {}
  ~bounds_operations() { current() = before_; }
  bounds_operations(const bounds_operations&) = delete;
  bounds_operations& operator=(const bounds_operations&) = delete;

  static double at_most() { return current(); }

private:
  static double& current() {
    thread_local double most = std::numeric_limits<double>::infinity();
    return most;
  }
  double before_;
};

} // namespace furrow
