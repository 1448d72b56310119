// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/fit.hpp>

namespace furrow::chebyshev {

/// Sums, differences, products and quotients of series on the same interval; others throw `fault::usage`.
/// The length of a sum is that of the longer one, of a product the sum of the lengths less one: exact but for rounding,
/// nothing is chopped.
series operator+(const series& a, const series& b);
series operator-(const series& a, const series& b);
series operator-(const series& a);
series operator*(double factor, const series& a); ///< throws `fault::usage` for a factor that is not finite
series operator*(const series& a, const series& b);
/// a / b by adaptive fit. Throws `fault::input`, naming the place, where b has a root in the interval.
series divide(const series& a, const series& b, const fit_options& options = {});
/// p^n for n >= 0 by repeated squaring; p^0 is 1, also where p is 0. Throws `fault::usage` where the result would be
/// longer than `longest_series`, `fault::input` where it leaves the range of double.
series power(const series& p, index_t n);

/// p'. O(n); the error of a coefficient grows as n^2, as that of every derivative.
series derivative(const series& p);
/// The integral from the lower end to x, plus `constant`. O(n).
series integral(const series& p, double constant = 0);
/// The integral over the whole interval. O(n).
double definite_integral(const series& p);

/// p(x) on a part of its interval, of the same degree. Throws `fault::usage` unless `on` lies within p.on.
series restriction(const series& p, interval on);
/// outer(inner(x)) by adaptive fit. Throws `fault::input` where inner leaves the interval of outer by more than
/// rounding.
series compose(const series& outer, const series& inner, const fit_options& options = {});

} // namespace furrow::chebyshev
