// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/chebyshev/arithmetic.hpp>
#include <furrow/chebyshev/product.hpp>
#include <furrow/chebyshev/roots.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

void check_pair(const series& a, const series& b) {
  check_series(a);
  check_series(b);
  check(a.on == b.on, fault::usage,
        "one series lives on [{}, {}], the other on [{}, {}]: restrict them to one interval first", a.on.low, a.on.high,
        b.on.low, b.on.high);
}

/// a + factor b.
series combine(const series& a, double factor, const series& b) {
  check_pair(a, b);
  series c{host_array<double>(std::max(a.length(), b.length())), a.on};
  for (index_t k = 0; k < c.length(); ++k)
    c.coefficients[k] = (k < a.length() ? a.coefficients[k] : 0) + (k < b.length() ? factor * b.coefficients[k] : 0);
  return c;
}

} // namespace

series operator+(const series& a, const series& b) { return combine(a, 1, b); }
series operator-(const series& a, const series& b) { return combine(a, -1, b); }
series operator-(const series& a) { return -1.0 * a; }

series operator*(double factor, const series& a) {
  check_series(a);
  check(std::isfinite(factor), fault::usage, "{} times a series is none: give a finite factor", factor);
  series c = a;
  for (double& v : c.coefficients) v *= factor;
  return c;
}

series operator*(const series& a, const series& b) {
  check_pair(a, b);
  if (a.length() == 0 || b.length() == 0) return {host_array<double>(), a.on};
  product_options options;
  options.wanted = accuracy::normwise;
  return {multiply(as_cview(a.coefficients), as_cview(b.coefficients), options), a.on};
}

series divide(const series& a, const series& b, const fit_options& options) {
  check_pair(a, b);
  const host_array<double> poles = roots(b);
  if (!poles.empty())
    throw error(fault::input, fmt::format("the divisor is 0 at x = {:.17g}: restrict both series to a part without its "
                                          "roots",
                                          poles[0]));
  return fit(
      [&](cview<double> x, view<double> y) {
        host_array<double> under(x.size);
        evaluate(a, x, y);
        evaluate(b, x, as_view(under));
        for (index_t i = 0; i < x.size; ++i) y[i] /= under[i];
      },
      a.on, options);
}

series power(const series& p, index_t n) {
  check_series(p);
  check(n >= 0, fault::usage, "p^{} is no series: the power must not be negative; divide instead", n);
  check(p.length() < 2 || n <= (longest_series - 1) / (p.length() - 1), fault::usage,
        "p^{} of a series of {} coefficients would have more than {} of them", n, p.length(), longest_series);
  series result{{1.0}, p.on}, square = p;
  const auto multiply_by = [n](series& to, const series& by) {
    to = to * by;
    check(std::ranges::all_of(to.coefficients, [](double a) { return std::isfinite(a); }), fault::input,
          "p^{} has coefficients beyond the range of double: take a power of p times a small number", n);
  };
  for (index_t left = n; left > 0; left /= 2) {
    if (left % 2) multiply_by(result, square);
    if (left > 1) multiply_by(square, square);
  }
  return result;
}

} // namespace furrow::chebyshev
