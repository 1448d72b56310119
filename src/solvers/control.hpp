// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <math.h> // isfinite, log and sqrt for host and device code alike

/// What an iteration knows of itself while it runs, and when it stops. It lives beside the vectors, so that a whole
/// chunk of steps runs without the host.
namespace furrow::control {

/// Not below the norm of a vector of less than 2^32 elements, whose sum of squares gave `norm`: squares of elements
/// below 1.5e-154 are subnormal or 0. A bound of rounding that rests on the norm of such an x would be 0.
FURROW_HD inline double norm_from_above(double norm) { return norm + 1e-149; }

/// Why the loop handed back to the host. A solver adds its own, from `own_verdict` on.
enum verdict : int {
  running,
  small_enough,
  limit,
  not_finite,
  no_progress,
  grown,
  behind_a_hump,
  cycle_ended, ///< of a method that starts anew from its residual every so many steps
  too_slow,
  own_verdict
};

/// Slots that every iteration has, by name; the solver's own follow from `own_slot` on.
enum slot_name : int {
  rr,    ///< |r|^2 by the recurrence: the solver's step writes it
  peak,  ///< largest rr since r was worked out anew
  steps, ///< steps so far
  since_best,
  best,      ///< smallest rr so far
  why,       ///< the verdict
  looked,    ///< steps when the rate was judged last
  look_best, ///< `best` then
  own_slot
};

struct limits {
  double goal = 0; ///< stop at rr <= goal
  double steps = 0;
  double patience = 0; ///< steps without a new smallest rr
  double ceiling = 0;  ///< rr beyond this has diverged
  double hump = 0;     ///< a peak beyond this makes r drift
  double outlook = 0;  ///< stop where the rate promises more steps than this; 0: never
};

/// The rate is judged whenever the steps have doubled, at first after this share of the outlook: residuals that are not
/// monotone climb before they fall.
inline constexpr double first_look = 0.25;

/// Residuals that are kept beside the vectors, and the longest chunk of steps.
inline constexpr index_t ring = 4096;

/// The step after `now` at which x may be kept: by its number and not by the clock, which ends chunks, so that every
/// run hands back the same x. 15, 31, 63, where chunks that grow end anyhow, and then twice as often: what is lost with
/// a later x is 15 steps or a third of them. A chunk more costs a GPU 10 us.
inline constexpr index_t first_kept = 15;
FURROW_HD inline index_t next_kept(index_t now) {
  if (now < first_kept) return first_kept;
  index_t whole = 2 * first_kept + 2;
  while (whole <= now + 1) whole *= 2;
  whole /= 2;
  const index_t wish = whole < 64 ? whole : whole / 2, stride = wish < ring ? wish : ring;
  return ((now + 1) / stride + 1) * stride - 1;
}

/// What is kept of each of the last `steps` steps: so many numbers, of which the norm of the residual is the first.
struct step_records {
  double* data = nullptr;
  index_t steps = 0, numbers = 0;

  FURROW_HD double* of(index_t step) const { return data + step % steps * numbers; }
};

/// Evaluated after each step, where the slots are: counts, records the residual, says when to stop.
/// `judge.before()` looks at the solver's own scalars and refuses a step that did not take place; `judge.after()`
/// carries them on to the next step. Both return a verdict. `judge.prepare()`, where there is one, goes before all of
/// it: small algebra of the step, rr too, that costs no launch of its own.
template <class Judge> struct until {
  double* s;
  step_records records;
  limits most;
  Judge judge;

  FURROW_HD int decide() const {
    if (!isfinite(s[rr])) return not_finite;
    if (const int own = judge.before(); own != running) return own;
    s[steps] += 1;
    *records.of(static_cast<index_t>(s[steps])) = sqrt(s[rr]);
    if (s[rr] <= most.goal) return small_enough;
    const int own = judge.after();
    if (own != running && own != cycle_ended) return own;
    if (s[steps] >= most.steps) return limit;
    if (s[rr] > most.ceiling) return grown;
    if (s[rr] > s[peak]) s[peak] = s[rr];
    if (s[peak] > most.hump && s[rr] < 1e-6 * s[peak]) return behind_a_hump;
    const bool better = s[rr] < s[best];
    s[since_best] = better ? 0 : s[since_best] + 1;
    if (better) s[best] = s[rr];
    if (most.outlook > 0 && s[steps] >= 2 * s[looked] && s[steps] >= s[looked] + first_look * most.outlook) {
      const double fell = log(s[look_best] / s[best]), left = log(s[best] / most.goal);
      if (left * (s[steps] - s[looked]) > fell * (most.outlook - s[steps])) return too_slow;
      s[looked] = s[steps];
      s[look_best] = s[best];
    }
    return s[since_best] > most.patience ? int(no_progress) : own;
  }

  FURROW_HD bool operator()() const {
    if constexpr (requires(const Judge& j) { j.prepare(); }) judge.prepare();
    const int v = decide();
    s[why] = v;
    return v != running;
  }
};

} // namespace furrow::control
