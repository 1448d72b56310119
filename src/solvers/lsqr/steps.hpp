// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/bidiagonal_steps.hpp"

/// The rotation of LSQR, and its pass over x.
namespace furrow::lsqr_steps {

using bidiagonal_steps::over;
using bidiagonal_steps::rotation;

enum slot_name : int {
  rho_bar = bidiagonal_steps::own_slot,
  phi_bar, ///< |r|
  step_x,  ///< x += step_x h,  h = w / alpha - keep h
  keep,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

struct begin {
  double* s;
  FURROW_HD void operator()() const {
    using namespace bidiagonal_steps;
    begin_norms(s);
    s[rho_bar] = s[alpha];
    s[phi_bar] = s[beta];
    s[step_x] = s[keep] = 0;
  }
};

/// One column more of the bidiagonal matrix B, rotated into R; |M'A'r| and |r| follow.
struct rotate {
  double* s;
  FURROW_HD void operator()() const {
    using namespace bidiagonal_steps;
    advance_norms(s);
    const rotation p(s[rho_bar], s[beta]);
    extend_triangle(s, p.r, p.s * s[alpha]);
    s[step_x] = over(p.c * s[phi_bar], p.r);
    s[keep] = over(p.s * s[alpha], p.r);
    s[rho_bar] = -p.c * s[alpha];
    s[phi_bar] *= p.r > 0 ? p.s : 1; // no step: |r| stays
    s[normal] = fabs(s[phi_bar] * s[rho_bar]);
    s[control::rr] = s[phi_bar] * s[phi_bar];
  }
};

/// h = w / alpha; sums w.w.
template <class V> struct first {
  scalar alpha;
  double along = 0;
  first(slot alpha) : alpha(alpha) {}
  FURROW_HD void load() {
    alpha.load();
    along = over(1, alpha);
  }
  FURROW_HD void operator()(V& h, V w, sums<1> sum) const {
    h = V(along * double(w));
    sum[0] += double(w) * double(w);
  }
};

/// x += step_x h;  h = w / alpha - keep h;  sums w.w.
template <class V> struct advance {
  scalar alpha, step, keep;
  double along = 0;
  advance(slot alpha, slot step, slot keep) : alpha(alpha), step(step), keep(keep) {}
  FURROW_HD void load() {
    alpha.load();
    step.load();
    keep.load();
    along = over(1, alpha);
  }
  FURROW_HD void operator()(V& x, V& h, V w, sums<1> sum) const {
    x = V(double(x) + step * double(h));
    h = V(along * double(w) - keep * double(h));
    sum[0] += double(w) * double(w);
  }
};

} // namespace furrow::lsqr_steps
