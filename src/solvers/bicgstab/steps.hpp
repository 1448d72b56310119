// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of BiCGStab and its scalars. Each pass comes for p^ = p (no preconditioner), for p^ = d p (a diagonal
/// one), and without p^ for a preconditioner that needs a pass of its own.
namespace furrow::bicgstab_steps {

enum slot_name : int {
  rho = control::own_slot, ///< r~'r
  sigma,                   ///< r~'A p^
  tt,                      ///< t't, and the others of `epilogue::gram` behind it
  ts,                      ///< t's
  t_shadow,                ///< r~'t
  ss,                      ///< s's
  s_shadow,                ///< r~'s
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { lost_direction = control::own_verdict, lost_step, lost_shadow };

/// omega = t's / t't makes |s - omega t| least. Where s and t are so nearly orthogonal that the next steps would lose
/// their digits it is made longer, as if their cosine were 0.5 (G. L. G. Sleijpen, H. A. van der Vorst,
/// Maintaining convergence properties of BiCGstab methods in finite precision arithmetic, 1995, who take 0.7). 0 where
/// t is.
FURROW_HD inline double omega_of(double ts, double tt, double ss) {
  /// Of 0.1 to 0.7 it takes the fewest steps on grids with convection and no more on others, docs/bicgstab.md.
  constexpr double least_cosine = 0.5;
  if (!(tt > 0)) return 0;
  const double omega = ts / tt, least = least_cosine * sqrt(ss / tt);
  if (fabs(omega) >= least) return omega;
  return omega < 0 ? -least : least;
}

/// r~ = p = r; sums r'r.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& shadow, V& p, V r, sums<1> sum) const {
    shadow = p = r;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& shadow, V& p, V& scaled, V r, V d, sums<1> sum) const {
    (*this)(shadow, p, r, sum);
    scaled = d * r;
  }
};

/// p = r beside another r~; sums r~'r.
template <class V> struct begin_anew {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V r, V shadow, sums<1> sum) const {
    p = r;
    sum[0] += double(shadow) * double(r);
  }
  FURROW_HD void operator()(V& p, V& scaled, V r, V shadow, V d, sums<1> sum) const {
    (*this)(p, r, shadow, sum);
    scaled = d * r;
  }
};

/// s = r - alpha v, in the place of r.
template <class V> struct half_step {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V v, sums<0>) const { r = r - V(alpha) * v; }
  FURROW_HD void operator()(V& r, V& scaled, V v, V d, sums<0> sum) const {
    (*this)(r, v, sum);
    scaled = d * r;
  }
};

/// r~'r behind a step, r = s - omega t, known with the sums of its second product. r~'s is 0 but for rounding, and is
/// there for that: without it the next r~'r, which may be much smaller, would have the rounding of this one.
FURROW_HD inline double rho_behind(double s_shadow, double t_shadow, double omega) {
  return s_shadow - omega * t_shadow;
}

/// x += alpha p^ + omega s^; r = s - omega t; p = r + beta (p - omega v), beta = (rho behind / rho) (alpha / omega) and
/// alpha = rho / sigma; sums r'r.
template <class V> struct full_step {
  const double* s; ///< the slots
  double alpha = 0, omega = 0, beta = 0;
  FURROW_HD void load() {
    const bool has_direction = s[sigma] != 0; // otherwise the judge says so
    alpha = has_direction ? s[rho] / s[sigma] : 0;
    omega = omega_of(s[ts], s[tt], s[ss]);
    beta = has_direction && omega != 0 ? rho_behind(s[s_shadow], s[t_shadow], omega) / s[sigma] / omega : 0;
  }
  FURROW_HD void operator()(V& x, V& r, V& p, V v, V t, sums<1> sum) const { move(x, r, p, p, r, v, t, sum); }
  FURROW_HD void operator()(V& x, V& r, V& p, V of_p, V of_s, V v, V t, sums<1> sum) const {
    move(x, r, p, of_p, of_s, v, t, sum);
  }

protected:
  FURROW_HD void move(V& x, V& r, V& p, V of_p, V of_s, V v, V t, sums<1> sum) const {
    x = x + V(alpha) * of_p + V(omega) * of_s;
    r = r - V(omega) * t;
    p = r + V(beta) * (p - V(omega) * v);
    sum[0] += double(r) * double(r);
  }
};

/// The same where M is a diagonal: p^ and s^ are worked out again, the next p^ is kept.
template <class V> struct scaled_full_step : full_step<V> {
  FURROW_HD void operator()(V& x, V& r, V& p, V& scaled, V v, V t, V d, sums<1> sum) const {
    this->move(x, r, p, d * p, d * r, v, t, sum);
    scaled = d * p;
  }
};

/// A product of r~ is lost where it is 0, and not where it is only rounding: such a number does no harm as a stride or
/// a turn, while a start from the residual at hand forgets all directions. Held against 1e-10, u or 64 u of |r~| |v|,
/// or of the sum of the sizes, it ended 4 or 5 of 5 systems of strong convection, which converge without
/// (docs/bicgstab.md).
struct judge {
  double* s;

  FURROW_HD int before() const {
    for (int k = sigma; k < slot_end; ++k)
      if (!isfinite(s[k])) return control::not_finite;
    if (s[sigma] == 0) return lost_direction;
    return control::running;
  }
  FURROW_HD int after() const {
    if (s[tt] == 0) return lost_step;
    s[rho] = rho_behind(s[s_shadow], s[t_shadow], omega_of(s[ts], s[tt], s[ss]));
    return s[rho] == 0 ? int(lost_shadow) : int(control::running);
  }
};

} // namespace furrow::bicgstab_steps
