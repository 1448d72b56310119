// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/space.hpp>

/// The passes of conjugate gradients, and what preconditioner they apply on the way.
namespace furrow::cg_steps {

/// z = r.
template <class V> struct identity {
  static constexpr int reads = 0;
  FURROW_HD V operator()(index_t, V r) const { return r; }
};

/// z = d .* r.
template <class V> struct diagonal {
  static constexpr int reads = 1;
  cview<V> d;
  FURROW_HD V operator()(index_t i, V r) const { return d[i] * r; }
};

/// z was stored by a preconditioner that needs a pass of its own; it is read in place of r.
template <class V> struct stored {
  static constexpr int reads = 0;
  cview<V> z;
  FURROW_HD V operator()(index_t i, V) const { return z[i]; }
};

/// p = z; sums r.r, r.z, p.p.
template <class V, class Z> struct begin {
  static constexpr int reads = 1 + Z::reads, writes = 1;
  cview<V> r;
  Z z;
  view<V> p;
  FURROW_HD void load() {}
  FURROW_HD void operator()(index_t i, sums<3> sum) const {
    const V ri = r[i], zi = z(i, ri);
    p[i] = zi;
    sum[0] += double(ri) * double(ri);
    sum[1] += double(ri) * double(zi);
    sum[2] += double(zi) * double(zi);
  }
};

/// r -= alpha q; sums r.r and r.z.
template <class V, class Z> struct shrink {
  static constexpr int reads = 2 + Z::reads, writes = 1;
  view<V> r;
  cview<V> q;
  Z z;
  coefficient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(index_t i, sums<2> sum) const {
    const V ri = r[i] - V(alpha) * q[i];
    r[i] = ri;
    sum[0] += double(ri) * double(ri);
    sum[1] += double(ri) * double(z(i, ri));
  }
};

/// r -= alpha q; sums r.r. For a preconditioner that needs r whole before it can say z.
template <class V> struct shrink_alone {
  static constexpr int reads = 2, writes = 1;
  view<V> r;
  cview<V> q;
  coefficient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD void operator()(index_t i, sums<1> sum) const {
    const V ri = r[i] - V(alpha) * q[i];
    r[i] = ri;
    sum[0] += double(ri) * double(ri);
  }
};

/// x += alpha p; p = z + beta p; sums p.p.
template <class V, class Z> struct advance {
  static constexpr int reads = 3 + Z::reads, writes = 2;
  view<V> x, p;
  cview<V> r;
  Z z;
  coefficient alpha, beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  FURROW_HD void operator()(index_t i, sums<1> sum) const {
    const V pi = p[i];
    x[i] += V(alpha) * pi;
    const V next = z(i, r[i]) + V(beta) * pi;
    p[i] = next;
    sum[0] += double(next) * double(next);
  }
};

} // namespace furrow::cg_steps
