// SPDX-License-Identifier: BSD-3-Clause
#include "near_one.hpp"

#include "core/check.hpp"

#include <furrow/chebyshev/fit.hpp>
#include <furrow/chebyshev/points.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::chebyshev {
namespace {

using sampler = std::function<void(cview<double> x, view<double> y)>;

/// f at x; throws where it is no number.
void sample(const sampler& f, cview<double> x, view<double> y) {
  std::ranges::fill(y, std::numeric_limits<double>::quiet_NaN()); // what f leaves out is no value
  f(x, y);
  for (index_t i = 0; i < x.size; ++i)
    check(std::isfinite(y[i]), fault::input,
          "the function is {} at x = {:.17g}: choose an interval on which it is finite",
          std::isnan(y[i]) ? "not a number"
          : y[i] > 0       ? "inf"
                           : "-inf",
          x[i]);
}

/// Values at n points, of which every second one is known.
host_array<double> refine(const sampler& f, interval on, const host_array<double>& known, index_t n) {
  const host_array<double> x = points(kind::second, n, on);
  host_array<double> fresh(n / 2), at(n / 2), values(n);
  for (index_t j = 0; j < n / 2; ++j) at[j] = x[2 * j + 1];
  sample(f, as_cview(at), as_view(fresh));
  for (index_t j = 0; j < n; ++j) values[j] = j % 2 ? fresh[j / 2] : known[j / 2];
  return values;
}

/// f at points that no grid has, which are multiples of the golden section: few of them lie far apart, and none alike.
class probes {
public:
  probes(const sampler& f, interval on) : x_(count), wanted_(count) {
    for (index_t k = 0; k < count; ++k) x_[k] = on.at(2 * std::fmod(double(k + 1) * 0.6180339887498949, 1.0) - 1);
    sample(f, as_cview(x_), as_view(wanted_));
  }
  /// Whether p is f 2^-e there, up to `most` times the largest of the values, which are of f 2^-e. The bound allows for
  /// steep functions, whose argument is rounded.
  bool agree(const series& p, cview<double> values, int e, double most) const {
    double scale = 0;
    for (const double v : values) scale = std::max(scale, std::abs(v));
    const double bound = std::max(std::sqrt(0x1p-52) / 10, most) * scale;
    host_array<double> got(count);
    evaluate(p, as_cview(x_), as_view(got));
    for (index_t k = 0; k < count; ++k)
      if (!(std::abs(got[k] - std::scalbn(wanted_[k], -e)) <= bound)) return false;
    return true;
  }

private:
  static constexpr index_t count = 32;
  host_array<double> x_, wanted_;
};

/// How far p is from f 2^-e at the points of a grid with twice as many points as p was made of, relative to the largest
/// value. It has seen every second of them, but what was cut off may be largest there, as at a kink.
double error_between(const series& p, cview<double> finer, int e) {
  host_array<double> padded(finer.size, 0.0);
  std::copy(p.coefficients.begin(), p.coefficients.end(), padded.begin());
  const host_array<double> got = to_values(kind::second, as_cview(padded));
  double error = 0, largest = 0;
  for (index_t j = 0; j < finer.size; ++j) {
    const double wanted = std::scalbn(finer[j], -e);
    largest = std::max(largest, std::abs(wanted));
    error = std::max(error, std::abs(got[j] - wanted));
  }
  return error == 0 ? 0 : error / largest;
}

/// Where a is cut so that all that is left out adds up to the tolerance at most.
index_t length_by_sum(cview<double> a, double tolerance) {
  double largest = 0, rest = 0;
  for (const double v : a) largest = std::max(largest, std::abs(v));
  index_t length = a.size;
  while (length > 1 && (rest += std::abs(a[length - 1])) <= tolerance * largest) --length;
  return length;
}

/// Above this tolerance a plateau may be coefficients that fall slowly, as those of a jump, and not noise: what it
/// hides is measured. Below it the plateau lies at rounding.
constexpr double coarse = 1e-10;
constexpr double most_between = 10; ///< tolerances

/// p 2^e.
series scaled_back(const series& p, int e) {
  series q{scaled_by(as_cview(p.coefficients), e), p.on};
  for (index_t k = 0; k < q.length(); ++k)
    check(std::isfinite(q.coefficients[k]), fault::input,
          "coefficient {} of the function is {:.3g} times 2^{}, beyond the range of double: scale the function", k,
          p.coefficients[k], e);
  return q;
}

} // namespace

series fit(const sampler& f, interval on, const fit_options& options) {
  check(bool(f), fault::usage, "the function to fit is empty");
  check_interval(on);
  check(options.tolerance > 0, fault::usage, "a tolerance of {} cannot be met: it must be positive", options.tolerance);
  check(options.tolerance >= 0x1p-53, fault::usage,
        "a tolerance of {:.2g} cannot be met: a double is rounded to 1.1e-16", options.tolerance);
  check(options.tolerance < 1, fault::usage,
        "a tolerance of {} is met by anything: it must be below 1, as a part of the largest coefficient",
        options.tolerance);
  check(options.most_points >= 17 && options.most_points <= longest_series, fault::usage,
        "{} points at most: between 17 and {} can be taken", options.most_points, longest_series);
  index_t n = 17;
  host_array<double> values(n);
  const host_array<double> first = points(kind::second, n, on);
  sample(f, as_cview(first), as_view(values));
  const probes others(f, on);
  double left = 0, between = 0;
  for (;;) {
    host_array<double> finer; // where f was looked at there already
    between = 0;
    const int e = exponent_of(as_cview(values));
    const host_array<double> near_one = scaled_by(as_cview(values), -e);
    host_array<double> a = to_coefficients(kind::second, as_cview(near_one));
    const index_t length = chop_length(as_cview(a), options.tolerance);
    if (length < n) {
      const series p = truncate({host_array<double>(a), on}, length);
      if (others.agree(p, as_cview(near_one), e, 1e5 * options.tolerance)) {
        if (options.tolerance < coarse) return scaled_back(p, e);
        finer = refine(f, on, values, 2 * n - 1);
        // The points of a finer grid are those of coarser ones to a function such as T_64.
        const double most = most_between * options.tolerance;
        const auto holds = [&](const series& q) {
          between = error_between(q, as_cview(finer), e);
          return between <= most && others.agree(q, as_cview(near_one), e, most);
        };
        if (holds(p)) return scaled_back(p, e);
        const series longer = truncate({host_array<double>(a), on}, length_by_sum(as_cview(a), options.tolerance));
        if (holds(longer)) return scaled_back(longer, e);
      }
      left = 1;
    } else {
      double largest = 0;
      for (const double v : a) largest = std::max(largest, std::abs(v));
      left = std::max(std::abs(a[n - 1]), std::abs(a[n - 2])) / largest;
    }
    const index_t next = 2 * n - 1;
    if (next > options.most_points) break;
    values = finer.empty() ? refine(f, on, values, next) : std::move(finer);
    n = next;
  }
  check(
      !(between > 0), fault::input,
      "the function is not resolved by {} points on [{}, {}]: between them the series is off by {:.1e} of the largest "
      "value; choose an interval without jumps or kinks, or a larger tolerance than {:.1e}",
      n, on.low, on.high, between, options.tolerance);
  const double rounding = 0x1p-53 * std::max(std::abs(on.low), std::abs(on.high)) / (on.high / 2 - on.low / 2); // of x
  check(
      !(rounding > options.tolerance && left <= 10 * rounding), fault::input,
      "the function is not resolved by {} points on [{}, {}]: the coefficients still are {:.1e} of the largest one, "
      "and x "
      "is rounded there, to {:.1e} of half of the interval; fit f(x + {}) around 0, or choose a larger tolerance than "
      "{:.1e}",
      n, on.low, on.high, left, rounding, on.low, options.tolerance);
  throw error(fault::input,
              fmt::format("the function is not resolved by {} points on [{}, {}]: the coefficients still are {:.1e} of "
                          "the largest one; choose a shorter interval, without kinks or poles nearby, or a larger "
                          "tolerance than {:.1e}",
                          n, on.low, on.high, left, options.tolerance));
}

series fit(const std::function<double(double)>& f, interval on, const fit_options& options) {
  if (!f) return fit(sampler(), on, options);
  return fit(sampler([&](cview<double> x, view<double> y) { std::transform(x.begin(), x.end(), y.begin(), f); }), on,
             options);
}

} // namespace furrow::chebyshev
