// SPDX-License-Identifier: BSD-3-Clause
#include "between.hpp"

#include "core/check.hpp"

#include <furrow/chebyshev/points.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::cli::cheb_command {
namespace {

/// What an error between the points comes to by rounding alone, of the values and of x: that is not to be told.
double rounding_between(const chebyshev::series& p) {
  double sum = 0, largest = 0;
  for (const double a : p.coefficients) sum += std::abs(a), largest = std::max(largest, std::abs(a));
  return sum == 0 ? 0 : 0x1p-53 * double(p.length() + 16) * (sum / largest);
}

} // namespace

double error_between(const std::function<double(double)>& f, const chebyshev::series& p) {
  host_array<double> padded(std::max<index_t>(2 * p.length() + 1, 1001), 0.0);
  std::copy(p.coefficients.begin(), p.coefficients.end(), padded.begin());
  const host_array<double> x = chebyshev::points(chebyshev::kind::first, padded.size(), p.on);
  const host_array<double> got = chebyshev::to_values(chebyshev::kind::first, as_cview(padded));
  double error = 0, largest = 0;
  for (index_t j = 0; j < x.size(); ++j) {
    const double wanted = f(x[j]);
    check(std::isfinite(wanted), fault::input,
          "the function is {} at x = {:.17g}: choose an interval on which it is finite", wanted, x[j]);
    largest = std::max(largest, std::abs(wanted));
    error = std::max(error, std::abs(got[j] - wanted));
  }
  return error == 0 ? 0 : error / largest;
}

std::string told_between(double error, const chebyshev::series& p, double tolerance) {
  if (!(error > std::max(10 * tolerance, rounding_between(p)))) return "";
  return fmt::format("{:.1e} of the largest value between its points, more than the tolerance: cut the interval where "
                     "the function has a kink or a narrow peak",
                     error);
}

} // namespace furrow::cli::cheb_command
