// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solver.hpp>

namespace furrow {

/// A x = b in double, solved in single precision: both sides times a power of two, so that A is in its range.
class solver_in_single_precision {
public:
  /// Throws as a solver, and as `to_single_precision`; `fault::usage` for a damping, which means another one then.
  solver_in_single_precision(coo<double> a, solve_options o);

  /// Throws `fault::input` for elements that single precision does not hold.
  std::vector<solve_report> solve(cview<double> b, view<double> x, index_t columns);
  void set_limits(solve_options o);

private:
  void to_its_units(solve_options& o) const;
  void narrow(cview<double> b, cview<double> x, view<float> narrow_b, view<float> narrow_x) const;

  int exponent_; ///< of that power
  std::unique_ptr<solver<float>> solver_;
};

} // namespace furrow
