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
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { lost_direction = control::own_verdict, lost_step, lost_shadow };

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

/// s = r - alpha v, in the place of r.
template <class V> struct half_step {
  quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V v, sums<0>) const { r = r - V(alpha) * v; }
  FURROW_HD void operator()(V& r, V& scaled, V v, V d, sums<0>) const {
    r = r - V(alpha) * v;
    scaled = d * r;
  }
};

/// x += alpha p^ + omega s^; r = s - omega t; sums r'r, r~'r.
template <class V> struct full_step {
  quotient alpha, omega;
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

/// p = r + beta (p - omega v), beta = (rho_next / rho) (alpha / omega).
template <class V> struct turn {
  quotient alpha, omega, ratio;
  double beta = 0;
  FURROW_HD void load() {
    alpha.load();
    omega.load();
    ratio.load();
    beta = omega == 0.0 ? 0 : ratio * (alpha / omega);
  }
  FURROW_HD void operator()(V& p, V r, V v, sums<0>) const { p = r + V(beta) * (p - V(omega) * v); }
  FURROW_HD void operator()(V& p, V& scaled, V r, V v, V d, sums<0> sum) const {
    (*this)(p, r, v, sum);
    scaled = d * p;
  }
};

struct judge {
  double* s;

  FURROW_HD int before() const {
    if (!isfinite(s[sigma]) || !isfinite(s[ts]) || !isfinite(s[tt]) || !isfinite(s[rho_next]))
      return control::not_finite;
    if (s[sigma] == 0) return lost_direction;
    return control::running;
  }
  FURROW_HD int after() const {
    if (s[ts] == 0) return lost_step;
    s[rho] = s[rho_next];
    return s[rho] == 0 ? int(lost_shadow) : int(control::running);
  }
};

} // namespace furrow::bicgstab_steps
