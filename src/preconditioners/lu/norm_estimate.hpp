// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::lu {

/// An estimate of |B|_1 from products alone, hardly ever below a third of it: `apply` turns a vector x into B x in its
/// place, `apply_transposed` into B' x. At most 11 products, mostly 5 or 6 (W. W. Hager, Condition estimates, 1984;
/// N. J. Higham, FORTRAN codes for estimating the one-norm of a real or complex matrix, 1988, algorithm 4.1).
template <class Apply, class ApplyTransposed>
double norm_1_estimate(index_t n, const Apply& apply, const ApplyTransposed& apply_transposed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  host_array<double> x(n, n > 0 ? 1.0 / double(n) : 0), signs(n, 0.0);
  const auto norm = [&] {
    double sum = 0;
    for (const double v : x) sum += std::abs(v);
    return std::isfinite(sum) ? sum : infinity;
  };
  const auto largest = [&] {
    return std::ranges::max_element(x, {}, [](double v) { return std::abs(v); }) - x.begin();
  };
  const auto take_signs = [&] { // whether they are others than before
    bool other = false;
    for (index_t i = 0; i < n; ++i) {
      const double s = x[i] < 0 ? -1 : 1;
      other = other || s != signs[i];
      signs[i] = s;
    }
    return other;
  };
  if (n == 0) return 0;
  apply(x.data());
  double estimate = norm();
  if (n == 1 || estimate == infinity) return estimate;
  index_t column = -1;
  for (int round = 0; round < 4 && take_signs(); ++round) {
    std::ranges::copy(signs, x.begin());
    apply_transposed(x.data());
    const index_t next = largest();
    if (next == column || !std::isfinite(x[next])) break;
    column = next;
    std::ranges::fill(x, 0.0);
    x[column] = 1;
    apply(x.data());
    const double now = norm();
    if (!(now > estimate)) break;
    estimate = now;
  }
  for (index_t i = 0; i < n; ++i) x[i] = (i % 2 ? -1 : 1) * (1 + double(i) / double(n - 1));
  apply(x.data()); // finds what the search misses where its first vector meets cancellation
  return std::max(estimate, 2 * norm() / (3 * double(n)));
}

} // namespace furrow::lu
