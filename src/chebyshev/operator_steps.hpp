// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/quotient.hpp"

#include <furrow/space.hpp>

#include <cstdint>

/// The passes of series in an operator. `now` is what a product left.
namespace furrow::chebyshev::operator_steps {

/// y = a x.
template <class V> struct begin_sum {
  static constexpr int reads = 1, writes = 1;
  cview<V> x;
  view<V> y;
  V a;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const { return x[i]; }
  FURROW_HD void operator()(index_t i, V x_i, sums<0>) const { y[i] = a * x_i; }
};

/// now -= shift before.
template <class V> struct correct {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V now, before;
  };
  view<V> now;
  cview<V> before;
  V shift;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {now[i], before[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<0>) const { now[i] = v.now - shift * v.before; }
};

/// y += a before + b now.
template <class V> struct add_two {
  static constexpr int reads = 3, writes = 1;
  struct values {
    V now, before, y;
  };
  cview<V> now, before;
  view<V> y;
  V a, b;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {now[i], before[i], y[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<0>) const { y[i] = v.y + (a * v.before + b * v.now); }
};

/// to = a x - s now - before: what a product adds to. `to` may be before.
template <class V> struct prepare {
  static constexpr int reads = 3, writes = 1;
  struct values {
    V x, now, before;
  };
  cview<V> x, now, before;
  view<V> to;
  V a, s;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {x[i], now[i], before[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<0>) const { to[i] = a * v.x - s * v.now - v.before; }
};

/// now += b x - shift before, then to = a x - s now - before. `to` may be before.
template <class V> struct correct_and_prepare {
  static constexpr int reads = 3, writes = 2;
  struct values {
    V x, now, before;
  };
  cview<V> x;
  view<V> now;
  cview<V> before;
  view<V> to;
  V b, shift, a, s;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {x[i], now[i], before[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<0>) const {
    const V now_i = v.now + (b * v.x - shift * v.before);
    now[i] = now_i;
    to[i] = a * v.x - s * now_i - v.before;
  }
};

/// now . now and now . before.
template <class V> struct two_dots {
  static constexpr int reads = 2, writes = 0;
  struct values {
    V now, before;
  };
  cview<V> now, before;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {now[i], before[i]}; }
  FURROW_HD void operator()(index_t, values v, sums<2> sum) const {
    sum[0] += double(v.now) * double(v.now);
    sum[1] += double(v.now) * double(v.before);
  }
};

/// now -= shift before, then both dots.
template <class V> struct correct_and_two_dots {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V now, before;
  };
  view<V> now;
  cview<V> before;
  V shift;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {now[i], before[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<2> sum) const {
    const V now_i = v.now - shift * v.before;
    now[i] = now_i;
    sum[0] += double(now_i) * double(now_i);
    sum[1] += double(now_i) * double(v.before);
  }
};

/// 1 or -1, by a hash of the index: the same numbers on every device. The mixing function of SplitMix64.
template <class V> struct random_signs {
  static constexpr int reads = 0, writes = 1;
  view<V> x;
  std::uint64_t seed;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const {
    std::uint64_t z = seed * 0xd1342543de82ef95u + (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> 63 ? V(-1) : V(1);
  }
  FURROW_HD void operator()(index_t i, V sign, sums<0>) const { x[i] = sign; }
};

/// The step of Lanczos' process without square roots: q becomes (q - a p - b before) / scale, and its square is summed.
template <class V> struct orthogonalise {
  static constexpr int reads = 3, writes = 1;
  struct values {
    V q, p, before;
  };
  cview<V> q, p;
  view<V> before; ///< becomes the next direction
  guarded_quotient a, b;
  double scale; ///< of A: keeps the directions in range
  FURROW_HD void load() {
    a.load();
    b.load();
  }
  FURROW_HD values at(index_t i) const { return {q[i], p[i], before[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<1> sum) const {
    const V next = static_cast<V>(((double(v.q) - a * double(v.p)) / scale - b * double(v.before)));
    before[i] = next;
    sum[0] += double(next) * double(next);
  }
};

} // namespace furrow::chebyshev::operator_steps
