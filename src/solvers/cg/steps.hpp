// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of conjugate gradients. Each comes with z = r (no preconditioner) and with z = d r (a diagonal one),
/// told apart by their arguments; `stored` ones are for a preconditioner that needs a pass of its own. C: a
/// coefficient, worked out from two slots by the pass, or a `number` of the host.
namespace furrow::cg_steps {

/// p = z; sums r.z.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V r, sums<1> sum) const { add(p, r, r, sum); }
  FURROW_HD void operator()(V& p, V r, V d, sums<1> sum) const { add(p, r, d * r, sum); }

private:
  FURROW_HD void add(V& p, V r, V z, sums<1> sum) const {
    p = z;
    sum[0] += double(r) * double(z);
  }
};

/// p = z; sums r.z, p.p.
template <class V> struct begin_stored {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& p, V r, V z, sums<2> sum) const {
    p = z;
    sum[0] += double(r) * double(z);
    sum[1] += double(z) * double(z);
  }
};

/// r -= alpha q; sums r.r, r.z.
template <class V, class C = guarded_quotient> struct shrink {
  C alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V q, sums<2> sum) const {
    r = r - V(alpha) * q;
    add(r, r, sum);
  }
  FURROW_HD void operator()(V& r, V q, V d, sums<2> sum) const {
    r = r - V(alpha) * q;
    add(r, d * r, sum);
  }

private:
  FURROW_HD void add(V r, V z, sums<2> sum) const {
    sum[0] += double(r) * double(r);
    sum[1] += double(r) * double(z);
  }
};

/// r -= alpha q; sums r.r. For a preconditioner that needs r whole before it can say z.
template <class V> struct shrink_alone {
  guarded_quotient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(V& r, V q, sums<1> sum) const {
    r = r - V(alpha) * q;
    sum[0] += double(r) * double(r);
  }
};

/// x += alpha p; p = z + beta p.
template <class V, class C = guarded_quotient> struct advance {
  C alpha, beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  FURROW_HD void operator()(V& x, V& p, V r, sums<0>) const { move(x, p, r); }
  FURROW_HD void operator()(V& x, V& p, V r, V d, sums<0>) const { move(x, p, d * r); }

private:
  FURROW_HD void move(V& x, V& p, V z) const {
    x = x + V(alpha) * p;
    p = z + V(beta) * p;
  }
};

/// The same for a stored z; sums p.p.
template <class V> struct advance_stored {
  guarded_quotient alpha, beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  FURROW_HD void operator()(V& x, V& p, V z, sums<1> sum) const {
    x = x + V(alpha) * p;
    p = z + V(beta) * p;
    sum[0] += double(p) * double(p);
  }
};

} // namespace furrow::cg_steps
