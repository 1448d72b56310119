// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/chebyshev/convert.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace furrow::chebyshev {
namespace {

void check_length(index_t n) {
  check(n <= longest_conversion, fault::usage, "{} coefficients: a change of basis takes at most {}", n,
        longest_conversion);
}

void check_given(cview<double> coefficients) {
  check_length(coefficients.size);
  check(coefficients.data || coefficients.empty(), fault::usage, "{} coefficients point nowhere", coefficients.size);
}

series checked(series p) {
  check_length(p.length());
  check_series(p);
  return p;
}

/// Gamma(z + 1/2) / Gamma(z + 1) at z = 0, 1/2, 1, ... by steps of one.
std::vector<double> gamma_ratios(index_t count) {
  std::vector<double> ratio(static_cast<std::size_t>(std::max<index_t>(count, 2)));
  ratio[0] = std::sqrt(std::numbers::pi);
  ratio[1] = 2 / std::sqrt(std::numbers::pi);
  for (std::size_t k = 2; k < ratio.size(); ++k) {
    const double z = static_cast<double>(k) / 2;
    ratio[k] = ratio[k - 2] * (z - 0.5) / z;
  }
  return ratio;
}

} // namespace

/// Clenshaw's recurrence with polynomials in place of numbers: b_k = a_k + 2 t b_(k+1) - b_(k+2), t = shift + slope x.
host_array<double> to_monomials(const series& given) {
  const series p = checked(given);
  const index_t n = p.length();
  const double slope = 1 / p.on.half_width(), shift = -p.on.middle() / p.on.half_width();
  host_array<double> now(n, 0.0), before(n, 0.0);
  for (index_t k = n - 1; k >= 0; --k) {
    const double twice = k == 0 ? 1 : 2; // p = a_0 + t b_1 - b_2
    // In place: the new one takes the memory of the one before, from the top power down.
    for (index_t i = n - 1; i >= 0; --i)
      before[i] = twice * (shift * now[i] + (i > 0 ? slope * now[i - 1] : 0)) - before[i];
    before[0] += p.coefficients[k];
    std::swap(now, before);
  }
  return now;
}

/// Horner's rule with series in place of numbers.
series from_monomials(cview<double> m, interval on) {
  check_given(m);
  series p{host_array<double>(m.size, 0.0), on};
  const double middle = on.middle(), half = on.half_width();
  host_array<double> next(m.size);
  for (index_t k = m.size - 1; k >= 0; --k) {
    const index_t length = m.size - k; // coefficients of the result
    const auto a = [&](index_t i) { return i < length - 1 ? p.coefficients[i] : 0; };
    for (index_t i = 0; i < length; ++i) {
      const double below = i == 0 ? 0 : i == 1 ? a(0) : a(i - 1) / 2;
      next[i] = middle * a(i) + half * (below + a(i + 1) / 2);
    }
    next[0] += m[k];
    std::swap(p.coefficients, next);
  }
  check_series(p);
  return p;
}

host_array<double> to_legendre(const series& given) {
  const series p = checked(given);
  const index_t n = p.length();
  const auto ratio = gamma_ratios(2 * n);
  const auto r = [&](index_t twice_z) { return ratio[static_cast<std::size_t>(twice_z)]; };
  host_array<double> l(n);
  for (index_t j = 0; j < n; ++j) {
    double sum = j == 0 ? p.coefficients[0] : std::sqrt(std::numbers::pi) / (2 * r(2 * j)) * p.coefficients[j];
    for (index_t k = j + 2; k < n; k += 2) {
      const double apart = static_cast<double>(k - j), both = static_cast<double>(k + j + 1);
      sum -= static_cast<double>(k) * (static_cast<double>(j) + 0.5) * (r(k - j - 2) / apart) * (r(k + j - 1) / both) *
             p.coefficients[k];
    }
    l[j] = sum;
  }
  return l;
}

series from_legendre(cview<double> l, interval on) {
  check_given(l);
  const auto ratio = gamma_ratios(2 * l.size);
  const auto r = [&](index_t twice_z) { return ratio[static_cast<std::size_t>(twice_z)]; };
  series p{host_array<double>(l.size), on};
  for (index_t j = 0; j < l.size; ++j) {
    double sum = 0;
    for (index_t k = j; k < l.size; k += 2) sum += r(k - j) * r(k + j) * l[k];
    p.coefficients[j] = sum * (j == 0 ? 1 : 2) / std::numbers::pi;
  }
  check_series(p);
  return p;
}

} // namespace furrow::chebyshev
