// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/ladder.hpp"

#include <furrow/communicator.hpp>
#include <furrow/solver.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// Systems that one rank of several solves: the first one has gathered all rows.
namespace furrow {

/// A door for tests: bytes that the first rank has for what it gathers, beside what its machine says.
std::atomic<double>& room_of_first();

/// Why the first rank cannot take a system of that size, by what its machine has; empty: it can. Nothing is taken. All
/// ranks call it, and get the same.
std::string too_large_for_first(communicator& c, shape2 shape, index_t entries, precision p, const solve_options& o);

/// f() on the first rank, by as many threads as all ranks of its machine have, on their processors, while the others
/// wait and hardly work. What it throws is thrown on all of them. Returns the seconds that this rank has waited.
double alone_on_first(communicator& c, const std::function<void()>& f);

/// `report` of the first rank, on all of them.
solve_report report_of_first(communicator& c, const solve_report& report);

/// A on the first rank, of which each rank has given rows; b and x stay in parts, as many elements of each as the
/// caller likes. All ranks call its functions.
template <class V> class system_on_first {
public:
  /// Takes the rows of all to the first rank. `o.solver`: "auto", which goes on behind `before`, or a method's name.
  system_on_first(communicator& c, coo<V> rows, const solve_options& o, climbed_before before = {});

  /// What the limits of `left` leave; the first one sets up. Throws on all, as `furrow::solver`, what the first rank
  /// throws.
  solve_report solve(cview<V> b, view<V> x, const solve_options& left);
  double waited() const { return waited_; } ///< this rank, for the first one

private:
  void set_up(const solve_options& left);

  communicator& c_;
  solve_options o_;
  climbed_before before_;
  coo<V> a_; ///< whole, on the first rank until the first solve
  double waited_ = 0;
  std::unique_ptr<ladder<V>> climbing_; ///< on the first rank, like the next one
  std::optional<solver<V>> named_;
  double setup_seconds_ = 0; ///< that no report has told yet
};

} // namespace furrow
