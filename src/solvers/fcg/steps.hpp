// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of flexible conjugate gradients and their scalars. Each pass comes with z = r (no preconditioner), with
/// z = d r (a diagonal one) and with a z of its own, told apart by their arguments.
namespace furrow::fcg_steps {

enum slot_name : int {
  rz = control::own_slot,
  rz_next,
  pq,
  pp, ///< p.p, and the next one
  pp_next,
  beta,     ///< -z'q / p'q
  zq,       ///< z'q, of the new z
  xx,       ///< sum of |alpha p|^2, at most |x - x_0|^2: the steps make acute angles
  steepest, ///< largest p'Ap / p'p so far, at most the largest eigenvalue of A
  rr_first, ///< |r|^2 of the first guess
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { negative_pq = control::own_verdict, zero_pq, negative_rz, zero_rz, outgrown };

struct reset {
  double* s;
  FURROW_HD void operator()() const {
    s[xx] = 0;
    if (s[rr_first] == 0) s[rr_first] = s[control::rr];
  }
};

/// beta = -z'q / p'q makes the next p conjugate to p, whatever M was: q stands for (r_old - r) / alpha.
struct turn {
  double* s;
  FURROW_HD void operator()() const { s[beta] = s[pq] > 0 ? -s[zq] / s[pq] : 0; }
};

struct judge {
  double* s;
  double rounding; ///< |p'Ap| <= rounding times p'p is zero within rounding
  double unit;     ///< unit roundoff

  FURROW_HD int before() const {
    if (!isfinite(s[pq]) || !isfinite(s[rz_next]) || !isfinite(s[zq])) return control::not_finite;
    if (s[pq] > 0) return control::running;
    return s[pq] < -rounding * s[pp] ? negative_pq : zero_pq;
  }
  /// x has outgrown its precision where the rounding of A x alone is as large as the first residual.
  FURROW_HD int after() const {
    if (s[rz_next] <= 0) return s[rz_next] < 0 ? negative_rz : zero_rz;
    const double alpha = s[rz] / s[pq];
    if (s[pq] > s[steepest] * s[pp]) s[steepest] = s[pq] / s[pp];
    const double lost = unit * s[steepest];
    s[xx] += alpha * alpha * s[pp];
    s[rz] = s[rz_next];
    s[pp] = s[pp_next];
    return lost * lost * s[xx] > s[rr_first] ? int(outgrown) : int(control::running);
  }
};

/// p = z; sums r.z, p.p.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V r, V z, sums<2> sum) const {
    p = z;
    sum[0] += double(r) * double(z);
    sum[1] += double(z) * double(z);
  }
};

/// r -= alpha q; sums r.r, and r.z, z.q where z is at hand.
template <class V> struct shrink {
  guarded_quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V q, sums<1> sum) const {
    r = r - V(alpha) * q;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& r, V q, sums<3> sum) const {
    r = r - V(alpha) * q;
    add(r, q, r, sum);
  }
  FURROW_HD void operator()(V& r, V q, V d, sums<3> sum) const {
    r = r - V(alpha) * q;
    add(r, q, d * r, sum);
  }

private:
  FURROW_HD void add(V r, V q, V z, sums<3> sum) const {
    sum[0] += double(r) * double(r);
    sum[1] += double(r) * double(z);
    sum[2] += double(z) * double(q);
  }
};

/// Sums r.z, z.q.
template <class V> struct measure_products {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V r, V q, V z, sums<2> sum) const {
    sum[0] += double(r) * double(z);
    sum[1] += double(z) * double(q);
  }
};

/// x += alpha p; p = z + beta p; sums p.p.
template <class V> struct advance {
  guarded_quotient alpha;
  scalar beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  FURROW_HD void operator()(V& x, V& p, V z, sums<1> sum) const {
    x = x + V(alpha) * p;
    p = z + V(beta) * p;
    sum[0] += double(p) * double(p);
  }
  FURROW_HD void operator()(V& x, V& p, V r, V d, sums<1> sum) const { (*this)(x, p, d * r, sum); }
};

} // namespace furrow::fcg_steps
