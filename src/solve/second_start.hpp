// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <functional>
#include <optional>

/// What `auto` does about an answer whose error its method cannot tell, before any factors: it leaves x by a known step
/// and looks whether the same method finds back.
namespace furrow {

/// Solves A y = b from the y that is given, to that relative residual, in at most so many iterations.
template <class V> using solve_from = std::function<solve_report(view<V> y, double rtol, index_t most)>;

/// What of a vector this is: all of it, or a rank's part.
struct part_of_vector {
  index_t first = 0; ///< the element of the whole that it begins with
  /// The largest of all parts' numbers, the same on all ranks.
  std::function<double(double)> largest_of_all = [](double mine) { return mine; };
};

/// How far from x, |y - x| / |x| in largest elements, an answer y that fits b as well may be. Empty: not known.
///
/// y begins at x + |x| w, w drawn from [0.5, 1.5] and the same on every run. Where A is well conditioned, y - x falls
/// with the residual; what A maps nearly to zero stays, and no residual of x shows that: the residual of y is small
/// then as well. w has one sign, so that it holds something of each such direction: about 1/sqrt(k) of one whose k
/// elements have random signs, and far more of smooth ones.
///
/// Stretches. To a relative residual of 1e-4: less than 0.1 % of the step is left of it where nothing is wrong,
/// and that is all. Two digits more, over which |y - x| falls by a power of the residual: that power decides, where it
/// promises at `rtol` less than 0.1 % or more than 30 %. Otherwise to `rtol`; and where from 0.1 to 30 % are left
/// there, the step is made as large as x again: a direction of random signs is found in the remainder of the first one.
///
/// x: of a `converged` report, in host memory, not changed. rtol: what the answer was asked for. Takes one vector, and
/// a fifth to four fifths of the answer's iterations where nothing is wrong; four times as many at most. Counted,
/// not timed: the same on every machine. On ranks all call it, each with its part.
template <class V>
std::optional<double> error_by_second_start(cview<V> x, const solve_report& answer, double rtol,
                                            const solve_from<V>& solve, const part_of_vector& part = {});

/// Puts into a `converged` report the error estimate, the larger one beside one by a condition number, and a warning
/// where it is more than 1 %.
void put_apart(solve_report& report, double error);

} // namespace furrow
