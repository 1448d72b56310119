// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of TFQMR and its scalars. A step is two half-steps, one for each product. Passes that make M u for a
/// diagonal M are told apart by their arguments.
namespace furrow::tfqmr_steps {

enum slot_name : int {
  rho = control::own_slot, ///< r~'w
  rho_next,
  sigma,  ///< r~'v
  alpha,  ///< rho / sigma
  beta,   ///< rho_next / rho
  ww,     ///< |w|^2
  tau,    ///< the quasi-residual
  turned, ///< theta^2 eta / alpha of the half-step before: how much of d goes on
  weight, ///< c^2: how far x and r go towards the half-step of CGS
  eta,    ///< c^2 alpha
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { lost_direction = control::own_verdict, lost_shadow };

struct begin_scalars {
  double* s;
  FURROW_HD void operator()() const {
    s[rho] = s[control::rr];
    s[tau] = sqrt(s[control::rr]);
    s[alpha] = s[turned] = 0;
  }
};
struct open_step {
  double* s;
  FURROW_HD void operator()() const {
    const double before = s[alpha];
    s[alpha] = s[sigma] != 0 ? s[rho] / s[sigma] : 0;
    s[turned] = s[alpha] != 0 ? s[turned] * (before / s[alpha]) : 0;
  }
};
/// The rotation of a half-step, from |w|.
struct rotate {
  double* s;
  FURROW_HD void operator()() const {
    const double theta = s[tau] > 0 ? sqrt(s[ww]) / s[tau] : 0, c2 = s[tau] > 0 ? 1 / (1 + theta * theta) : 0;
    s[tau] *= theta * sqrt(c2);
    s[weight] = c2;
    s[eta] = c2 * s[alpha];
    s[turned] = theta * theta * c2;
    s[beta] = s[rho] != 0 ? s[rho_next] / s[rho] : 0;
  }
};

struct judge {
  double* s;

  FURROW_HD int before() const {
    if (!isfinite(s[alpha]) || !isfinite(s[ww]) || !isfinite(s[rho_next]) || !isfinite(s[sigma]))
      return control::not_finite;
    return s[alpha] == 0 ? int(lost_direction) : int(control::running);
  }
  FURROW_HD int after() const {
    s[rho] = s[rho_next];
    if (s[rho] == 0) return lost_shadow;
    return s[sigma] == 0 ? int(lost_direction) : int(control::running);
  }
};

/// r~ = w = u = r, d = 0, and M u.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& shadow, V& w, V& u, V& d, V r, sums<0>) const {
    shadow = w = u = r;
    d = 0;
  }
  FURROW_HD void operator()(V& shadow, V& w, V& u, V& d, V& mu, V r, V m, sums<0> sum) const {
    (*this)(shadow, w, u, d, r, sum);
    mu = m * r;
  }
};

/// w -= alpha y; d = M u + turned d; u -= alpha v; sums w.w. The first half-step.
template <class V> struct first_half {
  scalar alpha, turned;
  FURROW_HD void load() {
    alpha.load();
    turned.load();
  }
  FURROW_HD void operator()(V& w, V& d, V& u, V y, V v, sums<1> sum) const { move(w, d, u, u, y, v, sum); }
  FURROW_HD void operator()(V& w, V& d, V& u, V y, V v, V mu, sums<1> sum) const { move(w, d, u, mu, y, v, sum); }
  FURROW_HD void operator()(V& w, V& d, V& u, V y, V v, V& mu, V m, sums<1> sum) const {
    move(w, d, u, mu, y, v, sum);
    mu = m * u;
  }

private:
  FURROW_HD void move(V& w, V& d, V& u, V mu, V y, V v, sums<1> sum) const {
    w = w - V(alpha) * y;
    d = mu + V(turned) * d;
    u = u - V(alpha) * v;
    sum[0] += double(w) * double(w);
  }
};

/// x and r of the first half-step; w -= alpha y; d = M u + turned d; sums w.w, r~.w. The second half-step.
template <class V> struct second_half {
  scalar alpha, turned, eta, weight;
  FURROW_HD void load() {
    alpha.load();
    turned.load();
    eta.load();
    weight.load();
  }
  FURROW_HD void operator()(V& x, V& r, V& w, V& d, V y, V mu, V shadow, sums<2> sum) const {
    x = x + V(eta) * d;
    r = r + V(weight) * (w - r);
    w = w - V(alpha) * y;
    d = mu + V(turned) * d;
    sum[0] += double(w) * double(w);
    sum[1] += double(shadow) * double(w);
  }
};

/// x and r of the second half-step; u = w + beta u, and M u; sums r.r.
template <class V> struct finish {
  scalar eta, weight, beta;
  FURROW_HD void load() {
    eta.load();
    weight.load();
    beta.load();
  }
  FURROW_HD void operator()(V& x, V& r, V& u, V d, V w, sums<1> sum) const {
    x = x + V(eta) * d;
    r = r + V(weight) * (w - r);
    u = w + V(beta) * u;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& x, V& r, V& u, V d, V w, V& mu, V m, sums<1> sum) const {
    (*this)(x, r, u, d, w, sum);
    mu = m * u;
  }
};

/// v = y + beta (y_before + beta v); sums r~.v.
template <class V> struct turn {
  scalar beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V& v, V y, V before, V shadow, sums<1> sum) const {
    v = y + V(beta) * (before + V(beta) * v);
    sum[0] += double(shadow) * double(v);
  }
};

/// v = y; sums r~.v.
template <class V> struct begin_turn {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& v, V y, V shadow, sums<1> sum) const {
    v = y;
    sum[0] += double(shadow) * double(v);
  }
};

} // namespace furrow::tfqmr_steps
