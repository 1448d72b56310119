// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "support.hpp"

#include <furrow/solve.hpp>

#include <atomic>
#include <exception>
#include <memory>

namespace furrow::python {

struct kept_x;

/// What Python wants to hear while a solver runs, and what it said. Used with the interpreter's lock held.
struct hooks {
  nb::object watch, monitor;    ///< None: nobody
  std::shared_ptr<kept_x> kept; ///< who writes the checkpoints of the solve that runs; null: nobody
  std::exception_ptr raised;
  bool solving = false;                ///< an exception that is put here is raised in the end
  std::atomic<bool> cancelled = false; ///< a set-up that nobody waits for any more

  /// Of the call, which holds what comes back.
  auto begin_solve() {
    raised = nullptr, solving = true;
    const auto end = [](bool* of) { *of = false; };
    return std::unique_ptr<bool, decltype(end)>(&solving, end);
  }

  /// Whether to go on: a signal or an exception ends the solve, and is raised when it has ended. From then on nobody is
  /// asked: of several right-hand sides or systems others may not have heard of it yet.
  template <class F> bool hear(F f) noexcept {
    const with_lock lock;
    if (raised) return false;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return or_wait_for_the_end(f);
    } catch (...) {
      raised = std::current_exception();
      return false;
    }
  }
};

inline std::shared_ptr<hooks> new_hooks() {
  return {new hooks, [](hooks* h) { delete_with_lock(h); }}; // also by a set-up that was given up
}

/// What furrow/_solver.py says, with callbacks that come to `h`.
solve_options options_of(const nb::dict& d, const std::shared_ptr<hooks>& h);

/// The exception that came while a solve ran, or None.
nb::object take_raised(hooks& h);

} // namespace furrow::python
