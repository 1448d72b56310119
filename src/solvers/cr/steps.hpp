// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of conjugate residuals and its scalars. Passes come for M = I, where z is r and y is q, for a diagonal M,
/// and for a stored z and y = M q.
namespace furrow::cr_steps {

enum slot_name : int {
  zaz = control::own_slot, ///< z'A z
  zaz_old,
  qmq, ///< q'M q
  ww,  ///< |A z|^2
  zz,  ///< z'z
  zz_next,
  xx, ///< x'x
  xx_first,
  rr_first, ///< |r|^2 when z was worked out last
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { negative_m = control::own_verdict, no_range, indefinite, zero_m, outgrown };

/// p = q = 0; sums z'z.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V& q, V z, sums<1> sum) const {
    p = q = V(0);
    sum[0] += double(z) * double(z);
  }
  FURROW_HD void operator()(V& p, V& q, V& z, V r, V d, sums<1> sum) const {
    z = d * r;
    (*this)(p, q, z, sum);
  }
};

/// p = z + beta p; q = w + beta q; sums w'w, and q'M q where that is known.
template <class V> struct turn {
  quotient beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<1> sum) const {
    p = z + V(beta) * p;
    q = w + V(beta) * q;
    sum[0] += double(w) * double(w);
  }
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<2> sum) const { (*this)(p, q, z, w, V(1), sum); }
  FURROW_HD void operator()(V& p, V& q, V z, V w, V d, sums<2> sum) const {
    p = z + V(beta) * p;
    q = w + V(beta) * q;
    sum[0] += double(w) * double(w);
    sum[1] += double(q) * double(d * q);
  }
};

/// x += alpha p; r -= alpha q; z = M r, which is r, d r, or z - alpha y; sums r'r, z'z, x'x.
template <class V, bool diagonal = false> struct advance {
  guarded_quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& x, V& r, V p, V q, sums<3> sum) const {
    move(x, r, p, q);
    add(r, r, x, sum);
  }
  FURROW_HD void operator()(V& x, V& r, V& z, V p, V q, V m, sums<3> sum) const {
    move(x, r, p, q);
    z = diagonal ? m * r : z - V(alpha) * m;
    add(r, z, x, sum);
  }

private:
  FURROW_HD void move(V& x, V& r, V p, V q) const {
    x = x + V(alpha) * p;
    r = r - V(alpha) * q;
  }
  FURROW_HD void add(V r, V z, V x, sums<3> sum) const {
    sum[0] += double(r) * double(r);
    sum[1] += double(z) * double(z);
    sum[2] += double(x) * double(x);
  }
};

/// z'A z is nothing where rounding explains it: the next direction would be none. |A z|^2 <= |A| |z'A z| holds for
/// every semidefinite A, so that a larger A z proves A indefinite, and a smaller one says that z is next to its null
/// space. x has outgrown its precision where the rounding of A x alone is as large as the first residual.
struct judge {
  double* s;
  double unit; ///< unit roundoff
  double norm; ///< |A|
  bool stored; ///< z = M r is to be worked out anew from time to time

  FURROW_HD int before() const {
    if (!isfinite(s[zaz]) || !isfinite(s[qmq]) || !isfinite(s[ww])) return control::not_finite;
    if (s[qmq] < 0) return negative_m;
    return s[qmq] == 0 || s[zaz] == 0 ? reason() : int(control::running);
  }
  FURROW_HD int after() const {
    if (fabs(s[zaz]) <= unit * norm * s[zz]) return reason();
    s[zaz_old] = s[zaz];
    s[zz] = s[zz_next];
    if (unit * norm * (sqrt(s[xx]) - sqrt(s[xx_first])) > sqrt(s[rr_first])) return outgrown;
    return stored && s[control::rr] < 1e-6 * s[rr_first] ? control::cycle_ended : control::running;
  }

private:
  FURROW_HD int reason() const {
    if (s[zz] == 0 || (s[qmq] == 0 && fabs(s[zaz]) > unit * norm * s[zz])) return zero_m;
    return s[ww] <= 4 * unit * norm * norm * s[zz] ? no_range : indefinite;
  }
};

/// What a step starts from whose r was worked out anew; `first`: without the directions before it.
struct reset {
  double* s;
  bool first;
  FURROW_HD void operator()() const {
    if (first) s[zaz_old] = 0; // beta = 0
    s[rr_first] = s[control::rr];
  }
};

} // namespace furrow::cr_steps
