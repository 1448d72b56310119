// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of BiCGStab(2) and its scalars. Passes come for M = I, for a diagonal d, whose product goes to z, and for
/// a stored M, told apart by their arguments.
namespace furrow::bicgstab2_steps {

enum slot_name : int {
  rho = control::own_slot, ///< r~'r
  rho_next,
  sigma,     ///< r~'A M u
  rho_half,  ///< r~'A M r, after the first half of the step
  sigma_two, ///< r~'A M u1
  r1r1,      ///< from here on: the minimisation, with s = r - alpha2 u1
  r1s,
  r1r2,
  r2r2,
  r2s,
  shadow_r2,
  gamma1,
  gamma2,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { lost_direction = control::own_verdict, lost_step, lost_shadow };

/// gamma of s - gamma1 r1 - gamma2 r2, by Cholesky of the 2 x 2 Gram matrix. Where r1 and r2 have one direction, r2
/// alone; where r2 is 0, r1.
struct minimise {
  double* s;
  double rounding; ///< of the squares, relative

  FURROW_HD void operator()() const {
    const double c = s[r1r1] > 0 ? s[r1r2] / s[r1r1] : 0, second = s[r2r2] - c * s[r1r2];
    const bool apart = s[r1r1] > 0 && second > rounding * s[r2r2];
    s[gamma2] = apart ? (s[r2s] - c * s[r1s]) / second : s[r2r2] > 0 ? s[r2s] / s[r2r2] : 0;
    const bool first = apart || (s[r1r1] > 0 && s[r2r2] == 0);
    s[gamma1] = first ? s[r1s] / s[r1r1] - c * s[gamma2] : 0;
  }
};

struct judge {
  double* s;

  FURROW_HD int before() const {
    for (int k = rho_next; k <= gamma2; ++k)
      if (!isfinite(s[k])) return control::not_finite;
    return control::running;
  }
  FURROW_HD int after() const {
    if (s[r2r2] == 0) return lost_step;
    if (s[sigma] == 0 || s[sigma_two] == 0) return lost_direction;
    s[rho] = s[rho_next];
    return s[rho] == 0 ? int(lost_shadow) : int(control::running);
  }
};

/// r~ = u = r; sums r'r.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& shadow, V& u, V r, sums<1> sum) const {
    shadow = u = r;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& shadow, V& u, V r, V& z, V d, sums<1> sum) const {
    (*this)(shadow, u, r, sum);
    z = d * r;
  }
};

/// u = r beside another r~; sums r~'r.
template <class V> struct begin_anew {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& u, V r, V shadow, sums<1> sum) const {
    u = r;
    sum[0] += double(shadow) * double(r);
  }
  FURROW_HD void operator()(V& u, V r, V shadow, V& z, V d, sums<1> sum) const {
    (*this)(u, r, shadow, sum);
    z = d * r;
  }
};

/// r -= alpha v.
template <class V> struct shorten {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V v, sums<0>) const { r = r - V(alpha) * v; }
  FURROW_HD void operator()(V& r, V v, V& z, V d, sums<0> sum) const {
    (*this)(r, v, sum);
    z = d * r;
  }
};

/// u = r - beta u.
template <class V> struct turn {
  quotient beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V& u, V r, sums<0>) const { u = r - V(beta) * u; }
  FURROW_HD void operator()(V& u, V r, V& z, V d, sums<0> sum) const {
    (*this)(u, r, sum);
    z = d * u;
  }
};

/// r1 -= alpha u2; sums r1'r1, r1's with s = r - alpha u1.
template <class V> struct shorten_first {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r1, V u2, V r, V u1, sums<2> sum) const {
    r1 = r1 - V(alpha) * u2;
    sum[0] += double(r1) * double(r1);
    sum[1] += double(r1) * double(r - V(alpha) * u1);
  }
  FURROW_HD void operator()(V& r1, V u2, V r, V u1, V& z, V d, sums<2> sum) const {
    (*this)(r1, u2, r, u1, sum);
    z = d * r1;
  }
};

/// Sums r1'r2, r2'r2, r2's, r~'r2.
template <class V> struct measure_second {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V r, V u1, V r1, V r2, V shadow, sums<4> sum) const {
    const double second = double(r2);
    sum[0] += second * double(r1);
    sum[1] += second * second;
    sum[2] += second * double(r - V(alpha) * u1);
    sum[3] += second * double(shadow);
  }
};

/// The end of a step: x moves along all four directions, r and u by the polynomial, u on to the next step; sums r'r,
/// r~'r.
template <class V> struct finish {
  quotient alpha, beta, alpha_two, beta_next;
  scalar gamma1, gamma2;
  V along_u = 0, along_r = 0, along_u1 = 0, along_r1 = 0;

  FURROW_HD void load() {
    alpha.load();
    beta.load();
    alpha_two.load();
    beta_next.load();
    gamma1.load();
    gamma2.load();
    along_u = V(alpha - alpha_two * beta);
    along_r = V(alpha_two + gamma1);
    along_u1 = V(-gamma1 * alpha_two);
    along_r1 = V(double(gamma2));
  }
  FURROW_HD void operator()(V& x, V& r, V& u, V u1, V u2, V r1, V r2, V shadow, sums<2> sum) const {
    x = x + moved(u, r, u1, r1);
    next(r, u, u1, u2, r1, r2, shadow, sum);
  }
  FURROW_HD void operator()(V& x, V& r, V& u, V u1, V u2, V r1, V r2, V shadow, V& z, V d, sums<2> sum) const {
    x = x + d * moved(u, r, u1, r1);
    next(r, u, u1, u2, r1, r2, shadow, sum);
    z = d * u;
  }
  FURROW_HD void operator()(V& x, V& r, V& u, V u1, V u2, V r1, V r2, V shadow, V mu, V mr, V mu1, V mr1,
                            sums<2> sum) const {
    x = x + moved(mu, mr, mu1, mr1);
    next(r, u, u1, u2, r1, r2, shadow, sum);
  }

private:
  FURROW_HD V moved(V u, V r, V u1, V r1) const { return along_u * u + along_r * r + along_u1 * u1 + along_r1 * r1; }
  FURROW_HD void next(V& r, V& u, V u1, V u2, V r1, V r2, V shadow, sums<2> sum) const {
    const V turned = r - V(beta) * u;
    r = r - V(alpha_two) * u1 - V(gamma1) * r1 - V(gamma2) * r2;
    u = r - V(beta_next) * (turned - V(gamma1) * u1 - V(gamma2) * u2);
    sum[0] += double(r) * double(r);
    sum[1] += double(shadow) * double(r);
  }
};

} // namespace furrow::bicgstab2_steps
