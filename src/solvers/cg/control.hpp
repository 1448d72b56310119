// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/space.hpp>

#include <math.h> // isfinite and sqrt for host and device code alike

/// What conjugate gradients know of themselves while they run, and when they stop. It lives beside the vectors, so that
/// a whole chunk of iterations runs without the host.
namespace furrow::cg_control {

/// Why the loop handed back to the host.
enum class verdict {
  running,
  small_enough,
  limit,
  not_finite,
  negative_pq,
  zero_pq,
  negative_rz,
  zero_rz,
  no_progress,
  grown
};

/// Slots, by name.
enum slot_name : int {
  rz,
  rz_next,
  pq,
  rr,
  pp,
  pp_next, ///< the scalars of the iteration
  iteration,
  since_best,
  best,
  why, ///< counters, smallest r.r so far, verdict
  slot_count
};

struct limits {
  double goal = 0; ///< stop at r.r <= goal
  double max_iterations = 0;
  double patience = 0; ///< iterations without a new smallest residual
  double ceiling = 0;  ///< r.r beyond this has diverged
  double rounding = 0; ///< |p'Ap| <= rounding p'p is zero within rounding
};

/// Evaluated after each iteration, where the slots are: updates the counters, records the residual, says when to stop.
struct until {
  double* s;
  view<double> history; ///< residual norms, a ring over the iterations
  limits limit;

  FURROW_HD verdict judge() const {
    if (!isfinite(s[pq]) || !isfinite(s[rr]) || !isfinite(s[rz_next])) return verdict::not_finite;
    if (s[pq] <= 0) return s[pq] < -limit.rounding * s[pp] ? verdict::negative_pq : verdict::zero_pq;
    s[iteration] += 1;
    history[static_cast<index_t>(s[iteration]) % history.size] = sqrt(s[rr]);
    if (s[rr] <= limit.goal) return verdict::small_enough;
    if (s[rz_next] <= 0) return s[rz_next] < 0 ? verdict::negative_rz : verdict::zero_rz;
    if (s[iteration] >= limit.max_iterations) return verdict::limit;
    if (s[rr] > limit.ceiling) return verdict::grown;
    const bool better = s[rr] < s[best];
    s[since_best] = better ? 0 : s[since_best] + 1;
    if (better) s[best] = s[rr];
    if (s[since_best] > limit.patience) return verdict::no_progress;
    s[rz] = s[rz_next];
    s[pp] = s[pp_next];
    return verdict::running;
  }

  FURROW_HD bool operator()() const {
    const verdict v = judge();
    s[why] = static_cast<double>(v);
    return v != verdict::running;
  }
};

} // namespace furrow::cg_control
