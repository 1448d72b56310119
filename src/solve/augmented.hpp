// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/solver.hpp>

#include <memory>
#include <vector>

namespace furrow {

/// Least squares by complete factors: y of
///
///   [ s I   A D ] [ r / s ]   [ b ]
///   [ D A'   0  ] [   y   ] = [ 0 ]
///
/// makes |b - A D y| least, r is what remains, and x = D y. D makes the columns of A D as long as 1. s = 0.001 keeps
/// the condition number of all of it from being the square of that of A D, and leaves most pivots to s I, which costs
/// no fill. Å. Björck, Numerical Methods for Least Squares Problems, 1996, 2.5.3 and 7.7. In double, on the host.
class augmented_system {
public:
  /// Of an A with no more columns than rows. As `direct` with `lu` and these options, which `bounds_operations` bounds.
  template <class V> augmented_system(const coo<V>& a, const solve_options& o);

  /// x, where it is finite; what the report says of residuals is of the system above.
  template <class V> solve_report solve(cview<V> b, view<V> x, const solve_options& limits);

private:
  index_t rows_;
  host_array<double> scale_; ///< of columns
  std::unique_ptr<solver<double>> factors_;
};

} // namespace furrow
