// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/cg/judge.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes and scalars of conjugate gradients with a single reduction, beside those of cg.
namespace furrow::cg_single_reduction_steps {

enum slot_name : int {
  uw = cg_scalars::slot_end, ///< u'A u
  uu,                        ///< |u|^2; of a stored u only
  rz_old,                    ///< r'z of the step before; 0 in a first step
  alpha,
  beta,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { negative_uw = cg_scalars::outgrown + 1, lost };

/// p = s = 0; sums r.u, u.u.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V& s, V r, V u, sums<2> sum) const {
    p = s = V(0);
    sum[0] += double(r) * double(u);
    sum[1] += double(u) * double(u);
  }
};

/// Sums r.u, u.u.
template <class V> struct measure_products {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V r, V u, sums<2> sum) const {
    sum[0] += double(r) * double(u);
    sum[1] += double(u) * double(u);
  }
};

/// p = u + beta p;  s = w + beta s;  x += alpha p;  r -= alpha s.
template <class V> struct move {
  scalar alpha, beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  /// M = I; sums r.r, r.u.
  FURROW_HD void operator()(V& x, V& p, V& s, V& r, V w, sums<2> sum) const {
    go(x, p, s, r, r, w);
    sum[0] += double(r) * double(r);
    sum[1] += double(r) * double(r);
  }
  /// M = diag(d); u is for the next product.
  FURROW_HD void operator()(V& x, V& p, V& s, V& r, V w, V& u, V d, sums<2> sum) const {
    go(x, p, s, r, d * r, w);
    u = d * r;
    sum[0] += double(r) * double(r);
    sum[1] += double(r) * double(u);
  }
  /// A stored M; sums r.r.
  FURROW_HD void operator()(V& x, V& p, V& s, V& r, V w, V u, sums<1> sum) const {
    go(x, p, s, r, u, w);
    sum[0] += double(r) * double(r);
  }

private:
  FURROW_HD void go(V& x, V& p, V& s, V& r, V u, V w) const {
    p = u + V(beta) * p;
    s = w + V(beta) * s;
    x = x + V(alpha) * p;
    r = r - V(alpha) * s;
  }
};

/// alpha and beta of a step from r'u and u'A u: p'A p = u'A u - beta r'u / alpha_old, for p is conjugate to the one
/// before. No step where that is not positive.
struct turn {
  double* s;
  FURROW_HD void operator()() const {
    using cg_scalars::pq;
    using cg_scalars::rz;
    s[beta] = s[rz_old] > 0 ? s[rz] / s[rz_old] : 0;
    s[pq] = s[rz_old] > 0 ? s[uw] - s[beta] * s[rz] / s[alpha] : s[uw];
    s[alpha] = s[pq] > 0 ? s[rz] / s[pq] : 0;
    s[rz_old] = s[rz];
  }
};

/// Judges as cg does, but where p'A p is not positive after a first step: that proves nothing, for it is a difference.
/// A negative u'A u does.
struct judge {
  cg_scalars::judge same;
  FURROW_HD int before() const {
    const double* const s = same.s;
    if (!isfinite(s[uw])) return control::not_finite;
    if (s[beta] == 0 || !(s[cg_scalars::pq] <= 0)) return same.before();
    return s[uw] < -same.rounding * (same.stored ? s[uu] : s[cg_scalars::rz]) ? int(negative_uw) : int(lost);
  }
  FURROW_HD int after() const { return same.after(); }
};

/// The scalars of a first step, from r'u.
struct reset {
  double* s;
  FURROW_HD void operator()() const {
    cg_scalars::reset{s}();
    s[cg_scalars::pp] = s[uu];
    s[rz_old] = 0;
  }
};

} // namespace furrow::cg_single_reduction_steps
