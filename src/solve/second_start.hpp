// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "features.hpp"

#include <furrow/solve.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// What `auto` does about an answer whose error its method cannot tell, before any factors: it leaves x by a known step
/// and looks whether the same method finds back.
namespace furrow {

/// Solves A y = b from the y that is given, to that relative residual, in at most so many iterations.
template <class V> using solve_from = std::function<solve_report(view<V> y, double rtol, index_t most)>;
/// Solves A y = b for a b at random (random_b.hpp) from y = 0, to that relative residual, in at most so many
/// iterations.
using solve_at_random = std::function<solve_report(double rtol, index_t most)>;
/// Rounding hides what would be below.
template <class V> constexpr double least_goal = std::max(1e-10, double(std::numeric_limits<V>::epsilon()));

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
///
/// Where y goes away from x, farther than the step by far, along what A maps nearly to zero, and does not get to
/// `rtol`, nothing is known but `strays`: the error of x, by the farthest place that y was found at and its residual,
/// if that fell to `rtol`. The true one may be larger.
template <class V>
std::optional<double> error_by_second_start(cview<V> x, const solve_report& answer, double rtol,
                                            const solve_from<V>& solve, const part_of_vector& part = {},
                                            double* strays = nullptr);

/// What right-hand sides at random, and those of all answers, have shown of M A, for all answers of cg with that M.
struct shown_at_random {
  std::string precond;
  double condition = 0; ///< by Ritz values
  index_t steps = 0;    ///< that were made for right-hand sides at random
  bool is_all = false;  ///< that they hold a share of

  void add(const solve_report& answer);
};

/// The error of an answer of cg by the smallest eigenvalue of M A that a right-hand side of its own shows, drawn at
/// random (random_b.hpp) and the same on every run: b, and with it the answer's Ritz values, may hold nothing of the
/// eigenvectors that matter, and this one holds about 1/sqrt(n) of each. Empty: that is more than 0.1 %, or not known.
///
/// Steps go on until the residual is a hundredth of 1/sqrt(n) of b: what b holds of an eigenvector stays in the
/// residual until a Ritz value meets its eigenvalue, so that none is left then of which b holds as much. Where sizes of
/// rows differ by s, which the 2-norm of the residual weighs, of 1/sqrt(n s). Where four times the steps of the answer
/// do not get there nothing is known.
///
/// known: what there is is taken, and what is found is kept. weighed: b is divided by the roots of M, a diagonal, so
/// that M makes no element of it small. Takes two vectors and mostly half as many iterations as the answer. Counted,
/// not timed. On ranks all call it.
std::optional<double> error_by_random_b(shown_at_random& known, const solve_report& answer, const features& f,
                                        bool weighed, const solve_at_random& solve);

/// What other starts have told of answers, for those of other right-hand sides. Which error a residual hides depends on
/// the reach of an answer, |x| / (|b| tol), |x| in the largest element, |b| in the 2-norm, tol the residual that it may
/// have: the same distance is little beside a large x, and much beside a small one.
class second_starts {
public:
  bool empty() const { return told_.empty(); }
  /// The error of an answer of that reach: as told of one that is much like it, or where it is by far not so large as
  /// would matter; otherwise as another start tells, `start`, which is kept; where that tells nothing, or there have
  /// been eight, from the nearest one, rather too large than too small. Empty: nothing is known. `of_residual`: that of
  /// the answer beside `tol`.
  std::optional<double> error_of(double reach, double of_residual, const std::function<std::optional<double>()>& start);

private:
  struct told {
    double error, reach;
    bool falls; ///< with the residual of the answer: the error is that at `tol` then
  };
  std::vector<told> told_;
};

/// Takes the method's own estimate back where another start has told nothing, unless it is that of a condition number:
/// of rows far from normal it may be 1e-13 where x is off by 100,000 times its size. A warning says that nobody
/// knows, or, where y strayed by more than 1 %, how far.
/// `square`: the solver direct would tell.
void put_straying(solve_report& report, double at_least, bool square = true);

/// Puts the warning that nobody knows the error into the report of a first guess that met the goal.
void warn_of_a_guess(solve_report& report);

/// Puts into a report of cg the condition number that was shown beside it, where that is another one; with
/// `and_error` what it makes of the estimate, and a warning where that needs one.
void put_condition(solve_report& report, const shown_at_random& shown, bool and_error);

/// Puts into a `converged` report the error estimate, the larger one beside one by a condition number, and a warning
/// where it is more than 1 %.
void put_apart(solve_report& report, double error);

} // namespace furrow
