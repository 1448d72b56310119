// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/space.hpp>

/// The passes of conjugate gradients, and what preconditioner they apply on the way.
namespace furrow::cg_steps {

/// z = r.
template <class V> struct identity {
  static constexpr int reads = 0;
  FURROW_HD V factor(index_t) const { return V(1); }
  FURROW_HD V operator()(V, V r) const { return r; }
};

/// z = d .* r.
template <class V> struct diagonal {
  static constexpr int reads = 1;
  cview<V> d;
  FURROW_HD V factor(index_t i) const { return d[i]; }
  FURROW_HD V operator()(V factor, V r) const { return factor * r; }
};

/// z was stored by a preconditioner that needs a pass of its own; it is read in place of r.
template <class V> struct stored {
  static constexpr int reads = 0;
  cview<V> z;
};

/// p = z; sums r.r, r.z, p.p.
template <class V, class Z> struct begin {
  static constexpr int reads = 1 + Z::reads, writes = 1;
  struct values {
    V r, factor;
  };
  cview<V> r;
  Z z;
  view<V> p;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {r[i], z.factor(i)}; }
  FURROW_HD void operator()(index_t i, values v, sums<3> sum) const {
    const V zi = z(v.factor, v.r);
    p[i] = zi;
    sum[0] += double(v.r) * double(v.r);
    sum[1] += double(v.r) * double(zi);
    sum[2] += double(zi) * double(zi);
  }
};

/// p = z for a stored z; sums r.r, r.z, p.p.
template <class V> struct begin<V, stored<V>> {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V r, z;
  };
  cview<V> r;
  stored<V> z;
  view<V> p;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {r[i], z.z[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<3> sum) const {
    p[i] = v.z;
    sum[0] += double(v.r) * double(v.r);
    sum[1] += double(v.r) * double(v.z);
    sum[2] += double(v.z) * double(v.z);
  }
};

/// r -= alpha q; sums r.r and r.z.
template <class V, class Z> struct shrink {
  static constexpr int reads = 2 + Z::reads, writes = 1;
  struct values {
    V r, q, factor;
  };
  view<V> r;
  cview<V> q;
  Z z;
  coefficient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD values at(index_t i) const { return {r[i], q[i], z.factor(i)}; }
  FURROW_HD void operator()(index_t i, values v, sums<2> sum) const {
    const V ri = v.r - V(alpha) * v.q;
    r[i] = ri;
    sum[0] += double(ri) * double(ri);
    sum[1] += double(ri) * double(z(v.factor, ri));
  }
};

/// r -= alpha q; sums r.r. For a preconditioner that needs r whole before it can say z.
template <class V> struct shrink_alone {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V r, q;
  };
  view<V> r;
  cview<V> q;
  coefficient alpha;
  FURROW_HD void load() { alpha.load(); }
  FURROW_HD values at(index_t i) const { return {r[i], q[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<1> sum) const {
    const V ri = v.r - V(alpha) * v.q;
    r[i] = ri;
    sum[0] += double(ri) * double(ri);
  }
};

/// x += alpha p; p = z + beta p; sums p.p.
template <class V, class Z> struct advance {
  static constexpr int reads = 3 + Z::reads, writes = 2;
  struct values {
    V x, p, z;
  };
  view<V> x, p;
  cview<V> r;
  Z z;
  coefficient alpha, beta;
  FURROW_HD void load() {
    alpha.load();
    beta.load();
  }
  FURROW_HD values at(index_t i) const {
    if constexpr (std::is_same_v<Z, stored<V>>) return {x[i], p[i], z.z[i]};
    else return {x[i], p[i], z(z.factor(i), r[i])};
  }
  FURROW_HD void operator()(index_t i, values v, sums<1> sum) const {
    x[i] = v.x + V(alpha) * v.p;
    const V next = v.z + V(beta) * v.p;
    p[i] = next;
    sum[0] += double(next) * double(next);
  }
};

} // namespace furrow::cg_steps
