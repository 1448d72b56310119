// SPDX-License-Identifier: BSD-3-Clause
#include "clenshaw.hpp"

#include "backends/cpu/all_finite.hpp"
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/crosses.hpp"

#include <furrow/chebyshev/series.hpp>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {

void check_interval(interval on) {
  check(std::isfinite(on.low) && std::isfinite(on.high) && on.low < on.high, fault::usage,
        "[{}, {}] is no interval: two finite ends are wanted, the lower one first", on.low, on.high);
  check(std::isfinite(on.high - on.low), fault::usage,
        "[{}, {}] is too long: the difference of its ends is beyond the range of double", on.low, on.high);
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

template <class V> void check_evaluation(cview<V> a, interval on, cview<V> x, view<V> y) {
  check_interval(on);
  check(x.size == y.size, fault::usage, "{} points and room for {} values: give as many of one as of the other", x.size,
        y.size);
  check(a.size >= 0 && x.size >= 0, fault::usage, "a series of {} coefficients at {} points: neither can be below 0",
        a.size, x.size);
  check((a.data || a.empty()) && ((x.data && y.data) || x.empty()), fault::usage,
        "coefficients, points or values point nowhere: give {}, {} and {} elements", a.size, x.size, y.size);
  check(!crosses(x, y) && !overlap(a, as_cview(y)), fault::usage,
        "the values share memory with the coefficients or part of the points: give them their own, or that of the "
        "points");
}

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

/// The limit of p at an end of the axis: that of its highest power, or a_0.
template <class V> V value_at_infinity(const V* a, index_t n, double x) {
  index_t k = n - 1;
  while (k > 0 && a[k] == V(0)) --k;
  if (k == 0) return a[0];
  return static_cast<V>((a[k] > V(0)) == (x > 0 || k % 2 == 0) ? HUGE_VAL : -HUGE_VAL);
}

/// The value at x with the exponents of long double: terms may leave the range of V where their sum does not.
template <class V> V value_of_wide_terms(const V* a, index_t n, interval on, double x) {
  if (std::isinf(x)) return value_at_infinity(a, n, x);
  const auto at = place<long double>::of(on.low, on.high, x);
  clenshaw<long double> sum;
  for (index_t k = n - 1; k > 0; --k) sum.step<true>(at, a[k]);
  return static_cast<V>(sum.value(at, a[0]));
}

/// Whether the recurrence may leave the range of V at a point of the interval. Its numbers are sums of coefficients,
/// each at most 2 n times, or 4 n times near the ends.
template <class V> bool may_overflow(cview<V> a) { return !cpu::all_finite(a, 8 * V(a.size) * V(a.size)); }

/// wide: values that are not finite are worked out anew. Beyond the interval they always are.
template <class V> void run_points(const V* a, index_t n, interval on, const V* x, V* y, index_t count, bool wide) {
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
    for (int j = 0; (wide || ends) && j < here; ++j)
      if (!std::isfinite(value[j])) value[j] = value_of_wide_terms(a, n, on, double(x[first + j]));
    std::copy_n(value, here, y + first);
  }
}

} // namespace

template <class V> void evaluate(cview<V> a, interval on, cview<V> x, view<V> y) {
  check_evaluation(a, on, x, y);
  if (a.empty()) return std::fill(y.begin(), y.end(), V(0));
  // About ten microseconds a task.
  const index_t piece = std::max<index_t>(group<V>, (index_t(1) << 18) / a.size / group<V> * group<V>);
  const index_t pieces = (x.size + piece - 1) / piece;
  const bool wide = x.size < 4 || may_overflow(a); // few values are looked at sooner than the coefficients
  cpu::for_each_task(pieces, [&](index_t k) {
    const index_t first = k * piece;
    run_points(a.data, a.size, on, x.data + first, y.data + first, std::min(piece, x.size - first), wide);
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
  check_evaluation(a, on, x, y);
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
