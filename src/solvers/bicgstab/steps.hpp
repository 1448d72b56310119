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
  rho_next,
  sigma, ///< r~'A p^
  ts,    ///< t's
  tt,    ///< t't
  ss,    ///< s's
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

/// The same from slots, by the pass that uses it.
class stable_omega {
public:
  stable_omega(slot ts, slot tt, slot ss) : ts_(ts.at), tt_(tt.at), ss_(ss.at) {}
  FURROW_HD void load() { value_ = omega_of(*ts_, *tt_, *ss_); }
  FURROW_HD operator double() const { return value_; }

private:
  const double *ts_, *tt_, *ss_;
  double value_ = 0;
};

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

/// s = r - alpha v, in the place of r; sums s's.
template <class V> struct half_step {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V v, sums<1> sum) const {
    r = r - V(alpha) * v;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& r, V& scaled, V v, V d, sums<1> sum) const {
    (*this)(r, v, sum);
    scaled = d * r;
  }
};

/// x += alpha p^ + omega s^; r = s - omega t; sums r'r, r~'r.
template <class V> struct full_step {
  quotient alpha;
  stable_omega omega;
  FURROW_HD void load() {
    alpha.load();
    omega.load();
  }
  FURROW_HD void operator()(V& x, V& r, V p, V t, V shadow, sums<2> sum) const { move(x, r, p, r, t, shadow, sum); }
  FURROW_HD void operator()(V& x, V& r, V p, V s, V t, V shadow, sums<2> sum) const {
    move(x, r, p, s, t, shadow, sum);
  }

private:
  FURROW_HD void move(V& x, V& r, V p, V s, V t, V shadow, sums<2> sum) const {
    x = x + V(alpha) * p + V(omega) * s;
    r = r - V(omega) * t;
    sum[0] += double(r) * double(r);
    sum[1] += double(shadow) * double(r);
  }
};

/// p = r + beta (p - omega v), beta = (rho_next / rho) (alpha / omega), where alpha is rho / sigma.
template <class V> struct turn {
  quotient ratio; ///< rho_next / sigma
  stable_omega omega;
  double beta = 0;
  FURROW_HD void load() {
    ratio.load();
    omega.load();
    beta = omega == 0.0 ? 0 : ratio / omega;
  }
  FURROW_HD void operator()(V& p, V r, V v, sums<0>) const { p = r + V(beta) * (p - V(omega) * v); }
  FURROW_HD void operator()(V& p, V& scaled, V r, V v, V d, sums<0> sum) const {
    (*this)(p, r, v, sum);
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
    if (!isfinite(s[sigma]) || !isfinite(s[ts]) || !isfinite(s[tt]) || !isfinite(s[ss]) || !isfinite(s[rho_next]))
      return control::not_finite;
    if (s[sigma] == 0) return lost_direction;
    return control::running;
  }
  FURROW_HD int after() const {
    if (s[tt] == 0) return lost_step;
    s[rho] = s[rho_next];
    return s[rho] == 0 ? int(lost_shadow) : int(control::running);
  }
};

} // namespace furrow::bicgstab_steps
