// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"

/// The scalars of conjugate gradients, and what they say of the matrix.
namespace furrow::cg_scalars {

enum slot_name : int {
  rz = control::own_slot,
  rz_next,
  pq,
  pp, ///< p.p, and the next one; of a stored z only
  pp_next,
  pm,       ///< p'M^-1 p
  xm,       ///< (x - x0)'M^-1 p
  xx,       ///< (x - x0)'M^-1 (x - x0)
  rz_first, ///< r'z of the first guess
  farthest, ///< largest xx over all starts
  steepest, ///< largest p'Ap / p'M^-1 p so far, at most the largest eigenvalue of M A
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

/// What is kept of a step, see `control::step_records`.
enum number_name : int { norm, alpha, beta, number_count }; ///< beta is 0 of the last step, alpha of one that was none

enum verdict : int { negative_pq = control::own_verdict, zero_pq, negative_rz, zero_rz, outgrown };

struct judge {
  double* s;
  control::step_records records;
  double rounding; ///< |p'Ap| <= rounding times p'M^-1 p, or p.p of a stored z, is zero within rounding
  double unit;     ///< unit roundoff
  bool stored;

  FURROW_HD int before() const {
    if (!isfinite(s[pq]) || !isfinite(s[rz_next])) return control::not_finite;
    double* const mine = records.of(index_t(s[control::steps]) + 1);
    const bool is_step = s[pq] > 0 && !(s[rz] < 0); // r'z of a first step: `after` saw the others
    mine[alpha] = is_step ? s[rz] / s[pq] : 0;
    mine[beta] = 0;
    if (is_step) return control::running;
    if (s[pq] < -rounding * fabs(stored ? s[pp] : s[pm])) return negative_pq;
    return s[rz] < 0 ? negative_rz : zero_pq;
  }

  /// Carries the scalars on. The norms of p and x in M^-1 follow from those of the step before, for r is orthogonal to
  /// p and to x - x0 (T. Steihaug, The conjugate gradient method and trust regions, 1983). x has outgrown its precision
  /// where the rounding of A x alone is as large as the first residual: no x of that size can have a smaller one.
  FURROW_HD int after() const {
    if (s[rz_next] <= 0) return s[rz_next] < 0 ? negative_rz : zero_rz;
    const double a = s[rz] / s[pq], b = s[rz_next] / s[rz];
    records.of(index_t(s[control::steps]))[beta] = b;
    if (s[pm] > 0 && s[pq] / s[pm] > s[steepest]) s[steepest] = s[pq] / s[pm];
    s[xx] += a * (2 * s[xm] + a * s[pm]);
    s[xm] = b * (s[xm] + a * s[pm]);
    s[pm] = s[rz_next] + b * b * s[pm];
    s[rz] = s[rz_next];
    s[pp] = s[pp_next];
    s[farthest] = fmax(s[farthest], s[xx]);
    const double lost = unit * s[steepest];
    return lost * lost * s[xx] > s[rz_first] ? int(outgrown) : int(control::running);
  }
};

/// The scalars of a first step, from r'z.
struct reset {
  double* s;
  FURROW_HD void operator()() const {
    s[pm] = s[rz];
    s[xm] = s[xx] = 0;
    if (s[rz_first] == 0) s[rz_first] = s[rz];
  }
};

} // namespace furrow::cg_scalars
