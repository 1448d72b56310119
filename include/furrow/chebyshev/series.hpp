// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/device.hpp>

namespace furrow::chebyshev {

/// [low, high] with low < high, both finite. What x is on it, t = (2 x - low - high) / (high - low) is on [-1, 1].
struct interval {
  double low = -1, high = 1;
  double middle() const { return low + (high - low) / 2; }
  double half_width() const { return (high - low) / 2; }
  double at(double t) const { return t < 0 ? low + (1 + t) * half_width() : high - (1 - t) * half_width(); }
  bool contains(double x) const { return low <= x && x <= high; }
  friend bool operator==(interval, interval) = default;
};

/// Longest series that is made or taken: longer ones have no use and would take all memory.
inline constexpr index_t longest_series = index_t(1) << 28;

/// p(x) = sum a_k T_k(t(x)), in the plain convention of numpy and Chebfun: a_0 counts once. No coefficients: p = 0.
struct series {
  host_array<double> coefficients;
  interval on{};

  index_t length() const { return coefficients.size(); }
  /// p(x), also outside of the interval.
  double operator()(double x) const;
};

/// Throws `fault::usage` unless low < high, both finite and not too far apart for their difference.
void check_interval(interval on);
/// `check_interval`, and `fault::input` for a coefficient that is not finite, `fault::usage` for too many of them.
void check_series(const series& p);

/// y_i = p(x_i) for the series of these coefficients.
/// x and y of one size; they may be the same memory. Points outside of the interval are evaluated too.
/// Cost: one pass over x and y; 2 n operations a point, 3 n near the ends of the interval, where the recurrence of
/// Clenshaw loses digits and Reinsch's form of it, which works with the distance from the end, does not.
/// The same bits for a point wherever it stands and for every number of threads. On the CPU a value inside the interval
/// that fits V is right also where the recurrence leaves its range on the way.
/// C. W. Clenshaw 1955; J. Oliver, An error analysis of the modified Clenshaw method, 1977.
template <class V> void evaluate(cview<V> coefficients, interval on, cview<V> x, view<V> y);
inline void evaluate(const series& p, cview<double> x, view<double> y) {
  evaluate(as_cview(p.coefficients), p.on, x, y);
}

/// The same with coefficients, x and y in the memory of `where`; only enqueued where that is a GPU, which must be
/// selected. Throws `fault::device` without a GPU part.
template <class V> void evaluate(device where, cview<V> coefficients, interval on, cview<V> x, view<V> y);

} // namespace furrow::chebyshev
