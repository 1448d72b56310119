// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/chebyshev/arithmetic.hpp>

#include <cmath>

namespace furrow::chebyshev {

/// d_(k-1) = d_(k+1) + 2 k a_k from the top down, d_0 halved; times dt/dx.
series derivative(const series& p) {
  check_series(p);
  const index_t n = p.length();
  if (n < 2) return {host_array<double>(n, 0.0), p.on};
  series d{host_array<double>(n - 1), p.on};
  const double scale = 1 / p.on.half_width();
  for (index_t k = n - 1; k > 0; --k) {
    const double above = k + 1 < n - 1 ? d.coefficients[k + 1] : 0;
    d.coefficients[k - 1] = above + 2 * static_cast<double>(k) * scale * p.coefficients[k];
  }
  d.coefficients[0] /= 2;
  return d;
}

/// The integral of T_k is (T_(k+1) / (k+1) - T_(k-1) / (k-1)) / 2, of T_0 T_1, of T_1 T_2 / 4.
series integral(const series& p, double constant) {
  check_series(p);
  check(std::isfinite(constant), fault::usage, "an integral plus {} is no series: give a finite constant", constant);
  const index_t n = p.length();
  series q{host_array<double>(n + 1), p.on};
  const auto a = [&](index_t k) { return k < n ? p.coefficients[k] : 0; };
  const double scale = p.on.half_width();
  double at_low = 0; // of the sum without its constant: T_k(-1) = (-1)^k
  for (index_t k = n; k > 0; --k) {
    const double half = k == 1 ? a(0) : a(k - 1) / 2; // halved first: twice a coefficient may leave the range
    q.coefficients[k] = scale * (half - a(k + 1) / 2) / static_cast<double>(k);
    at_low += k % 2 ? -q.coefficients[k] : q.coefficients[k];
  }
  q.coefficients[0] = constant - at_low;
  return q;
}

double definite_integral(const series& p) {
  check_series(p);
  double sum = 0;
  for (index_t k = (p.length() - 1) / 2 * 2; k >= 0 && k < p.length(); k -= 2)
    sum += p.coefficients[k] * 2 / (1 - static_cast<double>(k) * static_cast<double>(k));
  return p.on.half_width() * sum;
}

} // namespace furrow::chebyshev
