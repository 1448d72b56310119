// SPDX-License-Identifier: BSD-3-Clause
#include "clenshaw.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"

#include <furrow/chebyshev/series.hpp>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {

void check_interval(interval on) {
  check(std::isfinite(on.low) && std::isfinite(on.high) && on.low < on.high && std::isfinite(on.high - on.low),
        fault::usage, "[{}, {}] is no interval: two finite ends are wanted, the lower one first", on.low, on.high);
}

void check_series(const series& p) {
  check_interval(p.on);
  check(p.length() <= longest_series, fault::usage, "a series of {} coefficients is too long: at most {} are taken",
        p.length(), longest_series);
  for (index_t k = 0; k < p.length(); ++k)
    check(std::isfinite(p.coefficients[k]), fault::input,
          "coefficient {} of the series is {}: only finite ones make sense", k, p.coefficients[k]);
}

namespace {

/// Points of a group, whose recurrences run side by side in registers.
template <class V> inline constexpr int group = 256 / int(sizeof(V));

/// Groups of points in the middle and groups with points near the ends; a point has the same bits in both.
template <class V, bool Ends> FURROW_INLINE inline void run_group(const V* a, index_t n, const place<V>* at, V* y) {
  constexpr int width = group<V>;
  alignas(64) V factor[width], sign[width], turn[width], b[width], e[width];
#pragma omp simd
  for (int j = 0; j < width; ++j) {
    factor[j] = at[j].factor;
    sign[j] = at[j].sign;
    turn[j] = at[j].turn;
    b[j] = e[j] = 0;
  }
  for (index_t k = n - 1; k > 0; --k) {
    const V coefficient = a[k];
#pragma omp simd
    for (int j = 0; j < width; ++j) {
      if constexpr (Ends) {
        const V now = factor[j] * b[j] + (sign[j] * e[j] + coefficient);
        e[j] = turn[j] == V(0) ? b[j] : now;
        b[j] = now + turn[j] * b[j];
      } else {
        const V now = factor[j] * b[j] + (coefficient - e[j]);
        e[j] = b[j];
        b[j] = now;
      }
    }
  }
#pragma omp simd
  for (int j = 0; j < width; ++j) y[j] = factor[j] / 2 * b[j] + (sign[j] * e[j] + a[0]);
}

template <class V> void run_points(const V* a, index_t n, interval on, const V* x, V* y, index_t count) {
  constexpr int width = group<V>;
  for (index_t first = 0; first < count; first += width) {
    const int here = static_cast<int>(std::min<index_t>(width, count - first));
    place<V> at[width];
    bool ends = false;
    for (int j = 0; j < width; ++j) {
      at[j] = place<V>::of(on.low, on.high, double(x[first + std::min(j, here - 1)]));
      ends = ends || at[j].turn != V(0);
    }
    alignas(64) V value[width];
    if (ends) cpu::widest([&]() FURROW_INLINE { run_group<V, true>(a, n, at, value); });
    else cpu::widest([&]() FURROW_INLINE { run_group<V, false>(a, n, at, value); });
    std::copy_n(value, here, y + first);
  }
}

} // namespace

template <class V> void evaluate(cview<V> a, interval on, cview<V> x, view<V> y) {
  check_interval(on);
  check(x.size == y.size, fault::usage, "{} points and room for {} values: give as many of one as of the other", x.size,
        y.size);
  if (a.empty()) return std::fill(y.begin(), y.end(), V(0));
  // About ten microseconds a task.
  const index_t piece = std::max<index_t>(group<V>, (index_t(1) << 18) / a.size / group<V> * group<V>);
  const index_t pieces = (x.size + piece - 1) / piece;
  cpu::for_each_task(pieces, [&](index_t k) {
    const index_t first = k * piece;
    run_points(a.data, a.size, on, x.data + first, y.data + first, std::min(piece, x.size - first));
  });
}

template void evaluate(cview<double>, interval, cview<double>, view<double>);
template void evaluate(cview<float>, interval, cview<float>, view<float>);

#if FURROW_HAS_GPU
template <class V> void evaluate_on_gpu(cview<V> a, interval on, cview<V> x, view<V> y);
#else
template <class V> void evaluate_on_gpu(cview<V>, interval, cview<V>, view<V>) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

template <class V> void evaluate(device where, cview<V> a, interval on, cview<V> x, view<V> y) {
  if (!where.is_gpu()) return evaluate(a, on, x, y);
  check_interval(on);
  check(x.size == y.size, fault::usage, "{} points and room for {} values: give as many of one as of the other", x.size,
        y.size);
  if (!x.empty()) evaluate_on_gpu(a, on, x, y);
}

template void evaluate(device, cview<double>, interval, cview<double>, view<double>);
template void evaluate(device, cview<float>, interval, cview<float>, view<float>);

double series::operator()(double x) const {
  double y = 0;
  evaluate(as_cview(coefficients), on, cview<double>(&x, 1), view<double>(&y, 1));
  return y;
}

} // namespace furrow::chebyshev
