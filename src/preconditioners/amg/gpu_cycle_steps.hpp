// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "row_pass.hpp"

#include "backends/gpu/space.hpp"

/// What a cycle on a GPU does in the passes of its products, and between them.
namespace furrow::amg::gpu_cycle {

/// r = b - A x.
template <class W> struct find_residual {
  static constexpr bool smooths = false;
  const W* b;
  W* r;
  FURROW_HD void operator()(index_t i, W sum) const { r[i] = b[i] - sum; }
};

/// y = R x.
template <class W> struct put {
  static constexpr bool smooths = false;
  W* y;
  FURROW_HD void operator()(index_t i, W sum) const { y[i] = sum; }
};

/// x += P e.
template <class W> struct correct {
  static constexpr bool smooths = false;
  W* x;
  FURROW_HD void operator()(index_t i, W sum) const { x[i] += sum; }
};

/// r = b - A x; z = first D^-1 r; x += beta z, in another place.
template <class W> struct begin_smoothing {
  static constexpr bool smooths = true;
  W first, beta;
  const W *b, *x;
  W *r, *z, *next_x;
  FURROW_HD W residual(index_t i, W sum) const { return b[i] - sum; }
  FURROW_HD void operator()(index_t i, W own, W d) const {
    r[i] = own;
    z[i] = first * d;
    next_x[i] = x[i] + beta * (first * d);
  }
};

/// r = old r - A z; next z = keep z + gain D^-1 r; x += beta next z.
template <class W> struct go_on_smoothing {
  static constexpr bool smooths = true;
  W keep, gain, beta;
  const W *old, *z;
  W *r, *next, *x;
  FURROW_HD W residual(index_t i, W sum) const { return old[i] - sum; }
  FURROW_HD void operator()(index_t i, W own, W d) const {
    const W step = keep * z[i] + gain * d;
    r[i] = own;
    next[i] = step;
    x[i] += beta * step;
  }
};

/// z = first D^-1 b; x = beta z.
template <class W> struct smooth_zero {
  static constexpr int reads = 2, writes = 2;
  W first, beta;
  const W *inverse, *b;
  W *z, *x;
  int block;
  FURROW_HD void load() {}
  FURROW_HD W at(index_t i) const {
    if (block == 1) return inverse[i] * b[i];
    W d = 0;
    for (int k = 0; k < block; ++k) d += inverse[i * block + k] * b[i / block * block + k];
    return d;
  }
  FURROW_HD void operator()(index_t i, W d, sums<0>) const {
    z[i] = first * d;
    x[i] = beta * (first * d);
  }
};

/// The power of two that brings vectors whose squares add up to that near 1.
FURROW_HD inline double scale_for(double squares) {
  if (!(squares > 0) || squares > 1e300) return 1; // zeros stay zeros; NaN and infinity go through
  return ldexp(1.0, -ilogb(sqrt(squares)));
}

/// b = r scale.
template <class V, class W> struct narrow {
  static constexpr int reads = 1, writes = 1;
  const double* squares;
  cview<V> r;
  view<W> b;
  double scale = 1;
  FURROW_HD void load() { scale = scale_for(*squares); }
  FURROW_HD V at(index_t i) const { return r[i]; }
  FURROW_HD void operator()(index_t i, V value, sums<0>) const { b[i] = static_cast<W>(double(value) * scale); }
};

/// z = x of / scale.
template <class V, class W> struct widen {
  static constexpr int reads = 1, writes = 1;
  const double* squares;
  double of;
  cview<W> x;
  view<V> z;
  double back = 1;
  FURROW_HD void load() { back = of / scale_for(*squares); }
  FURROW_HD W at(index_t i) const { return x[i]; }
  FURROW_HD void operator()(index_t i, W value, sums<0>) const { z[i] = static_cast<V>(double(value) * back); }
};

} // namespace furrow::amg::gpu_cycle
