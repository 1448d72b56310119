// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of TFQMR and its scalars. h is M u: u itself (no preconditioner), worked out by the pass that changes u
/// (a diagonal one), or stored.
namespace furrow::tfqmr_steps {

enum slot_name : int {
  rho = control::own_slot, ///< r~'w
  rho_next,
  shadow, ///< |r~|^2
  sigma,  ///< r~'v
  vv,     ///< |v|^2
  ww,     ///< |w|^2, of the half step at hand
  tau,    ///< the quasi-residual
  beta,
  carry, ///< theta^2 eta, of the last half step
  keep,  ///< s^2 = theta^2 / (1 + theta^2), of the first half step
  take,  ///< c^2 = 1 - s^2
  eta,   ///< c^2 alpha
  keep_2,
  take_2,
  eta_2,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { lost_direction = control::own_verdict, lost_shadow };

/// The scalars of a first step, from rho = |r|^2.
struct reset {
  double* s;
  FURROW_HD void operator()() const {
    s[shadow] = s[rho];
    s[tau] = sqrt(s[rho]);
    s[beta] = s[carry] = 0;
  }
};

/// The rotation of a half step, which makes the quasi-residual least; `second`: 0 or 1. A half step that cannot take
/// place leaves x and r as they are.
struct rotate {
  double* s;
  int second;

  FURROW_HD void operator()() const {
    const bool there = s[sigma] != 0 && s[tau] > 0;
    const double alpha = there ? s[rho] / s[sigma] : 0, theta = there ? sqrt(s[ww]) / s[tau] : 0;
    const double c2 = there ? 1 / (1 + theta * theta) : 0;
    const int to = second * (keep_2 - keep);
    s[keep + to] = 1 - c2;
    s[take + to] = c2;
    s[eta + to] = c2 * alpha;
    if (there) s[tau] *= theta * sqrt(c2);
    s[carry] = theta * theta * c2 * alpha;
    if (second) s[beta] = s[rho] != 0 ? s[rho_next] / s[rho] : 0;
  }
};
static_assert(keep_2 - keep == take_2 - take && keep_2 - keep == eta_2 - eta);

/// An inner product that rounding explains ends the recurrence.
struct judge {
  double* s;
  double unit; ///< unit roundoff

  FURROW_HD int before() const {
    if (!isfinite(s[sigma]) || !isfinite(s[vv]) || !isfinite(s[ww]) || !isfinite(s[rho_next]))
      return control::not_finite;
    return s[sigma] == 0 ? int(lost_direction) : int(control::running);
  }
  FURROW_HD int after() const {
    if (fabs(s[sigma]) <= unit * sqrt(s[shadow]) * sqrt(s[vv])) return lost_direction;
    s[rho] = s[rho_next];
    return fabs(s[rho]) <= unit * sqrt(s[shadow]) * sqrt(s[ww]) ? int(lost_shadow) : int(control::running);
  }
};

/// r~ = w = u = r; v = f = d = 0; sums r'r.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& shadow, V& w, V& u, V& v, V& f, V& d, V r, sums<1> sum) const {
    shadow = w = u = r;
    v = f = d = V(0);
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& shadow, V& w, V& u, V& v, V& f, V& d, V& h, V r, V m, sums<1> sum) const {
    (*this)(shadow, w, u, v, f, d, r, sum);
    h = m * r;
  }
};

/// v = g + beta (f + beta v); sums r~'v, v'v.
template <class V> struct turn {
  scalar beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V& v, V g, V f, V shadow, sums<2> sum) const {
    v = g + V(beta) * (f + V(beta) * v);
    sum[0] += double(shadow) * double(v);
    sum[1] += double(v) * double(v);
  }
};

/// d = h + (theta^2 eta / alpha) d; u -= alpha v; w -= alpha g; sums w'w.
template <class V> struct half_step {
  quotient alpha, inverse;
  scalar carry;
  double along = 0;
  FURROW_HD void load() {
    alpha.load();
    inverse.load();
    carry.load();
    along = carry * inverse;
  }
  FURROW_HD void operator()(V& u, V& w, V& d, V v, V g, sums<1> sum) const { move(u, w, d, u, v, g, sum); }
  FURROW_HD void operator()(V& u, V& w, V& d, V v, V g, V h, sums<1> sum) const { move(u, w, d, h, v, g, sum); }
  FURROW_HD void operator()(V& u, V& w, V& d, V& h, V v, V g, V m, sums<1> sum) const {
    move(u, w, d, h, v, g, sum);
    h = m * u;
  }

private:
  FURROW_HD void move(V& u, V& w, V& d, V h, V v, V g, sums<1> sum) const {
    d = h + V(along) * d;
    u = u - V(alpha) * v;
    w = w - V(alpha) * g;
    sum[0] += double(w) * double(w);
  }
};

/// r = s^2 r + c^2 w; w -= alpha f; sums w'w, r~'w.
template <class V> struct smooth {
  quotient alpha;
  scalar keep, take;
  FURROW_HD void load() {
    alpha.load();
    keep.load();
    take.load();
  }
  FURROW_HD void operator()(V& r, V& w, V f, V shadow, sums<2> sum) const {
    r = V(keep) * r + V(take) * w;
    w = w - V(alpha) * f;
    sum[0] += double(w) * double(w);
    sum[1] += double(shadow) * double(w);
  }
};

/// x += eta d, for both halves, with d = h + s^2 d between them; r = s^2 r + c^2 w; u = w + beta u; sums r'r.
template <class V> struct full_step {
  scalar eta, along, eta_2, keep, take, beta;
  FURROW_HD void load() {
    eta.load();
    along.load();
    eta_2.load();
    keep.load();
    take.load();
    beta.load();
  }
  FURROW_HD void operator()(V& x, V& d, V& r, V& u, V w, sums<1> sum) const { move(x, d, r, u, u, w, sum); }
  FURROW_HD void operator()(V& x, V& d, V& r, V& u, V w, V h, sums<1> sum) const { move(x, d, r, u, h, w, sum); }
  FURROW_HD void operator()(V& x, V& d, V& r, V& u, V& h, V w, V m, sums<1> sum) const {
    move(x, d, r, u, h, w, sum);
    h = m * u;
  }

private:
  FURROW_HD void move(V& x, V& d, V& r, V& u, V h, V w, sums<1> sum) const {
    const V second = h + V(along) * d;
    x = x + V(eta) * d + V(eta_2) * second;
    d = second;
    r = V(keep) * r + V(take) * w;
    u = w + V(beta) * u;
    sum[0] += double(r) * double(r);
  }
};

} // namespace furrow::tfqmr_steps
