// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/chebyshev/arithmetic.hpp>
#include <furrow/chebyshev/points.hpp>

#include <algorithm>

namespace furrow::chebyshev {

series restriction(const series& p, interval on) {
  check_series(p);
  check_interval(on);
  check(p.on.low <= on.low && on.high <= p.on.high, fault::usage,
        "[{}, {}] is no part of [{}, {}], where the series lives", on.low, on.high, p.on.low, p.on.high);
  if (p.length() == 0 || on == p.on) return {p.coefficients, on};
  const host_array<double> x = points(kind::second, p.length(), on);
  host_array<double> values(x.size());
  evaluate(p, as_cview(x), as_view(values));
  return {to_coefficients(kind::second, as_cview(values)), on};
}

series compose(const series& outer, const series& inner, const fit_options& options) {
  check_series(outer);
  check_series(inner);
  const double slack =
      1e-14 * (outer.on.high - outer.on.low + std::max(std::abs(outer.on.low), std::abs(outer.on.high)));
  return fit(
      [&](cview<double> x, view<double> y) {
        evaluate(inner, x, y);
        for (index_t i = 0; i < x.size; ++i) {
          check(y[i] >= outer.on.low - slack && y[i] <= outer.on.high + slack, fault::input,
                "at x = {:.17g} the inner series is {:.17g}, outside of [{}, {}], where the outer one lives", x[i],
                y[i], outer.on.low, outer.on.high);
          y[i] = std::clamp(y[i], outer.on.low, outer.on.high);
        }
        evaluate(outer, y, y);
      },
      inner.on, options);
}

} // namespace furrow::chebyshev
