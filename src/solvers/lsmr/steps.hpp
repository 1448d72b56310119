// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/bidiagonal_steps.hpp"

/// The two rotations of LSMR, and its pass over x.
namespace furrow::lsmr_steps {

using bidiagonal_steps::over;
using bidiagonal_steps::rotation;

enum slot_name : int {
  alpha_bar = bidiagonal_steps::own_slot,
  zeta,
  zeta_bar, ///< its size is |M'A'r|
  rho,
  rho_bar,
  c_bar,
  s_bar,
  beta_dot, ///< from here on: of |r|
  beta_double_dot,
  rho_dot,
  tau,
  theta,
  step_x, ///< x += step_x h~,  h~ = h - keep_bar h~,  h = w / alpha - keep h
  keep_bar,
  keep,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

struct begin {
  double* s;
  FURROW_HD void operator()() const {
    using namespace bidiagonal_steps;
    begin_norms(s);
    s[alpha_bar] = s[alpha];
    s[zeta_bar] = s[alpha] * s[beta];
    s[zeta] = s[s_bar] = 0;
    s[rho] = s[rho_bar] = s[c_bar] = 1;
    s[beta_dot] = s[tau] = s[theta] = 0;
    s[beta_double_dot] = s[beta];
    s[rho_dot] = 1;
    s[step_x] = s[keep_bar] = s[keep] = 0;
  }
};

/// One column more of the bidiagonal matrix: R from it, then R~ from R'; |M'A'r| and |r| follow (sections 2.5, 5.1).
struct rotate {
  double* s;
  FURROW_HD void operator()() const {
    using namespace bidiagonal_steps;
    advance_norms(s);
    const rotation p(s[alpha_bar], s[beta]);
    const double theta_new = p.s * s[alpha];
    s[alpha_bar] = p.c * s[alpha];
    extend_triangle(s, p.r, theta_new);

    const double theta_bar = s[s_bar] * p.r, old_rho = s[rho], old_rho_bar = s[rho_bar], old_zeta = s[zeta];
    const rotation q(s[c_bar] * p.r, theta_new);
    s[c_bar] = q.c;
    s[s_bar] = q.s;
    s[rho] = p.r;
    s[rho_bar] = q.r;
    s[zeta] = q.c * s[zeta_bar];
    s[zeta_bar] *= -q.s;
    s[keep_bar] = over(theta_bar * p.r, old_rho * old_rho_bar);
    s[step_x] = over(s[zeta], p.r * q.r);
    s[keep] = over(theta_new, p.r);
    s[normal] = fabs(s[zeta_bar]);
    residual(p, theta_bar, old_zeta);
  }

private:
  FURROW_HD void residual(const bidiagonal_steps::rotation& p, double theta_bar, double old_zeta) const {
    const double beta_hat = p.c * s[beta_double_dot];
    s[beta_double_dot] *= -p.s;
    const rotation t(s[rho_dot], theta_bar);
    const double old_theta = s[theta];
    s[theta] = t.s * s[rho_bar];
    s[rho_dot] = t.c * s[rho_bar];
    s[beta_dot] = t.c * beta_hat - t.s * s[beta_dot];
    s[tau] = over(old_zeta - old_theta * s[tau], t.r);
    const double last = s[beta_dot] - over(s[zeta] - s[theta] * s[tau], s[rho_dot]);
    s[control::rr] = last * last + s[beta_double_dot] * s[beta_double_dot];
  }
};

/// h = w / alpha, h~ = 0; sums w.w.
template <class V> struct first {
  scalar alpha;
  double along = 0;
  first(slot alpha) : alpha(alpha) {}
  FURROW_HD void load() {
    alpha.load();
    along = over(1, alpha);
  }
  FURROW_HD void operator()(V& h, V& bar, V w, sums<1> sum) const {
    h = V(along * double(w));
    bar = V(0);
    sum[0] += double(w) * double(w);
  }
};

/// h~ = h - keep_bar h~;  x += step_x h~;  h = w / alpha - keep h;  sums w.w.
template <class V> struct advance {
  scalar alpha, step, keep_bar, keep;
  double along = 0;
  advance(slot alpha, slot step, slot keep_bar, slot keep) : alpha(alpha), step(step), keep_bar(keep_bar), keep(keep) {}
  FURROW_HD void load() {
    alpha.load();
    step.load();
    keep_bar.load();
    keep.load();
    along = over(1, alpha);
  }
  FURROW_HD void operator()(V& x, V& bar, V& h, V w, sums<1> sum) const {
    bar = V(double(h) - keep_bar * double(bar));
    x = V(double(x) + step * double(bar));
    h = V(along * double(w) - keep * double(h));
    sum[0] += double(w) * double(w);
  }
};

} // namespace furrow::lsmr_steps
