// SPDX-License-Identifier: BSD-3-Clause
#include "between.hpp"

#include "core/check.hpp"

#include <furrow/chebyshev/arithmetic.hpp>
#include <furrow/chebyshev/points.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

/// The largest size of p' at the points of its own number.
double steepest(const series& p) {
  const host_array<double> slope = to_values(kind::first, as_cview(derivative(p).coefficients));
  double largest = 0;
  for (const double v : slope) largest = std::max(largest, std::abs(v));
  return largest;
}

/// What an error between the points comes to by rounding alone, of the values and of x: that is not to be told.
double rounding_between(const series& p) {
  constexpr double unit = 0x1p-53, least = 0x1p-1074;
  double sum = 0, largest = 0;
  for (const double a : p.coefficients) sum += std::abs(a), largest = std::max(largest, std::abs(a));
  if (sum == 0) return 0;
  const double of_x = 8 * unit * std::max(std::abs(p.on.low), std::abs(p.on.high)) * (steepest(p) / largest);
  const double n = double(p.length() + 16);
  return unit * n * (sum / largest) + n * (least / largest) + (std::isfinite(of_x) ? of_x : 0);
}

} // namespace

double error_between(const std::function<void(cview<double> x, view<double> y)>& f, const series& p) {
  host_array<double> padded(std::max<index_t>(2 * p.length() + 1, 1001), 0.0);
  std::copy(p.coefficients.begin(), p.coefficients.end(), padded.begin());
  const host_array<double> x = points(kind::first, padded.size(), p.on);
  const host_array<double> got = to_values(kind::first, as_cview(padded));
  host_array<double> wanted(x.size());
  f(as_cview(x), as_view(wanted));
  double error = 0, largest = 0;
  for (index_t j = 0; j < x.size(); ++j) {
    check(std::isfinite(wanted[j]), fault::input,
          "the function is {} at x = {:.17g}: choose an interval on which it is finite", wanted[j], x[j]);
    largest = std::max(largest, std::abs(wanted[j]));
    error = std::max(error, std::abs(got[j] - wanted[j]));
  }
  return error == 0 ? 0 : error / largest;
}

double error_between(const std::function<double(double)>& f, const series& p) {
  const std::function<void(cview<double>, view<double>)> at_all = [&](cview<double> x, view<double> y) {
    std::transform(x.begin(), x.end(), y.begin(), f);
  };
  return error_between(at_all, p);
}

std::string told_between(double error, const series& p, double tolerance) {
  if (!(error > std::max(10 * tolerance, rounding_between(p)))) return "";
  return fmt::format("{:.1e} of the largest value between its points, more than the tolerance: cut the interval where "
                     "the function has a kink or a narrow peak",
                     error);
}

} // namespace furrow::chebyshev
