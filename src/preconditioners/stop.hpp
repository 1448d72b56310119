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
  /// For products of panels: asks after every 5e7 operations, in some 5 ms.
  static void after(double operations) {
    thread_local double unheard = 0;
    if (!current() || (unheard += operations) < 5e7) return;
    unheard = 0;
    at_row(0);
  }

private:
  static const question*& current() {
    thread_local const question* one = nullptr;
    return one;
  }
  question ask_;
  const question* before_;
};

/// Operations of floating point that complete factors may take.
struct most_operations {
  static constexpr double any = std::numeric_limits<double>::infinity();
  most_operations(double most = any)
      : most(most), by_panels(most), to_the_end(most) {} // NOLINT(google-explicit-constructor)
  most_operations(double most, double by_panels, double to_the_end)
      : most(most), by_panels(by_panels), to_the_end(to_the_end) {}

  double most;
  double by_panels;  ///< of those that are made of products of panels, as lu:cholesky and lu:supernodal are
  double to_the_end; ///< of those that take no more for sure
  /// From neighbour to neighbour, for each of them, that an order by minimum degree may take before it is left.
  double order_steps = any;
};

/// While it lives, complete factors that this thread makes may take so many operations, and are refused beyond
/// (status::max_iterations); `at_most()`: of the one that was made last.
class bounds_operations {
public:
  explicit bounds_operations(const most_operations& most) : before_(std::exchange(current(), most)) {}
  ~bounds_operations() { current() = before_; }
  bounds_operations(const bounds_operations&) = delete;
  bounds_operations& operator=(const bounds_operations&) = delete;

  static most_operations at_most() { return current(); }

private:
  static most_operations& current() {
    thread_local most_operations most;
    return most;
  }
  most_operations before_;
};

} // namespace furrow
