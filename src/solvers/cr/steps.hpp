// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of conjugate residuals and their scalars. Each comes without M, with a diagonal one, and with M q.
namespace furrow::cr_steps {

enum slot_name : int {
  rho = control::own_slot, ///< z'A z
  rho_next,
  qq, ///< q'M q
  qq_next,
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { negative_qq = control::own_verdict, zero_qq, zero_rho };

struct judge {
  double* s;

  FURROW_HD int before() const {
    if (!isfinite(s[rho_next]) || !isfinite(s[qq])) return control::not_finite;
    if (s[rho] == 0) return zero_rho;
    return s[qq] > 0 ? int(control::running) : s[qq] < 0 ? int(negative_qq) : int(zero_qq);
  }
  FURROW_HD int after() const {
    s[rho] = s[rho_next];
    s[qq] = s[qq_next];
    return s[rho] == 0 ? int(zero_rho) : int(control::running);
  }
};

/// p = z, q = w; sums q.M q where M is at hand.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<0>) const {
    p = z;
    q = w;
  }
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<1> sum) const { set(p, q, z, w, w, sum); }
  FURROW_HD void operator()(V& p, V& q, V z, V w, V d, sums<1> sum) const { set(p, q, z, w, d * w, sum); }

private:
  FURROW_HD void set(V& p, V& q, V z, V w, V mw, sums<1> sum) const {
    p = z;
    q = w;
    sum[0] += double(w) * double(mw);
  }
};

/// x += alpha p; r -= alpha q; z = r, d r, or z - alpha M q; sums r.r.
template <class V> struct advance {
  guarded_quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& x, V& r, V p, V q, sums<1> sum) const {
    x = x + V(alpha) * p;
    r = r - V(alpha) * q;
    sum[0] += double(r) * double(r);
  }
  FURROW_HD void operator()(V& x, V& r, V p, V q, V& z, V d, sums<1> sum) const {
    (*this)(x, r, p, q, sum);
    z = d * r;
  }
};
template <class V> struct advance_stored {
  advance<V> vectors;
  FURROW_HD void load() { vectors.load(); }
  FURROW_HD void operator()(V& x, V& r, V p, V q, V& z, V mq, sums<1> sum) const {
    vectors(x, r, p, q, sum);
    z = z - V(vectors.alpha) * mq;
  }
};

/// p = z + beta p; q = w + beta q; sums q.M q where M is at hand.
template <class V> struct turn {
  quotient beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<0>) const { move(p, q, z, w); }
  FURROW_HD void operator()(V& p, V& q, V z, V w, sums<1> sum) const {
    move(p, q, z, w);
    sum[0] += double(q) * double(q);
  }
  FURROW_HD void operator()(V& p, V& q, V z, V w, V d, sums<1> sum) const {
    move(p, q, z, w);
    sum[0] += double(q) * double(d * q);
  }

private:
  FURROW_HD void move(V& p, V& q, V z, V w) const {
    p = z + V(beta) * p;
    q = w + V(beta) * q;
  }
};

} // namespace furrow::cr_steps
