// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

namespace furrow::chebyshev {

/// The zeros of T_n (`first`), or the extrema of T_(n-1) with both ends (`second`).
enum class kind { first, second };

/// The n points of a kind on [-1, 1], ascending and exactly symmetric; x = interval.at(t). n >= 1; one point of the
/// second kind is 0.
host_array<double> points(kind which, index_t n);
/// The same on an interval.
host_array<double> points(kind which, index_t n, interval on);

/// Coefficients of the polynomial of degree below n with these n values at the points of a kind, ascending, and back.
/// Discrete cosine transforms: O(n log n), errors of O(u log n) in the Euclidean norm, any n.
/// Throw `fault::usage` for more than `longest_series` values.
host_array<double> to_coefficients(kind which, cview<double> values);
host_array<double> to_values(kind which, cview<double> coefficients);

} // namespace furrow::chebyshev
