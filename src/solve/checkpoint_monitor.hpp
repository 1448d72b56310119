// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/checkpoint.hpp>

#include <functional>

namespace furrow {

using monitor_of_x = std::function<bool(const progress&, cview<double>)>;

/// What a keeper becomes as the monitor of a solve. Ranks look for it in `solve_options::monitor`, and keep x in parts
/// then; any other monitor gets all of x.
struct checkpoint_monitor {
  checkpoint_keeper* keeper = nullptr; ///< null: of a rank other than the first
  monitor_of_x other;                  ///< that is asked as often; may be empty
  /// What x is in the caller's order, where the solve has another one: of all of x, and of this rank's part, which all
  /// ranks ask together. Empty: it is the same.
  std::function<host_array<double>(cview<double>)> whole_in_order, part_in_order;

  /// Where one rank has all of x.
  bool operator()(const progress& now, cview<double> x) const;
  /// All ranks call it, each with its part; whether the solve goes on, the same on all of them.
  bool show_part(communicator& c, const progress& now, cview<double> mine) const;
};

} // namespace furrow
