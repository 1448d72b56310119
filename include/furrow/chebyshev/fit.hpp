// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

#include <functional>

namespace furrow::chebyshev {

/// How many of the coefficients say something, between 1 and their number: the rest is noise at `tolerance` times the
/// largest one. All of them where no plateau of noise is in sight, so also for fewer than 17.
/// J. L. Aurentz, L. N. Trefethen, Chopping a Chebyshev series, ACM TOMS 43, 2017.
index_t chop_length(cview<double> coefficients, double tolerance = 0x1p-52);

/// p without the coefficients that `chop_length` calls noise.
series chop(const series& p, double tolerance = 0x1p-52);
/// The first `length` coefficients of p, or all of them: the best approximation of lower degree but for a factor of
/// O(log length).
series truncate(const series& p, index_t length);

struct fit_options {
  double tolerance = 0x1p-52;          ///< what counts as noise, relative to the largest coefficient
  index_t most_points = (1 << 16) + 1; ///< samples at most, besides those that only check
};

/// The shortest series that agrees with f to the tolerance: samples at 17, 33, 65, ... Chebyshev points of the second
/// kind until the coefficients end in noise, and at 32 more points that no grid has, against aliases and peaks between
/// the points: what is narrower than a twentieth of the interval may be overlooked. At the 32 the series must be within
/// 1e5 tolerances of the largest value, and 1.5e-9 at least: where coefficients fall slowly, as behind a kink, it may
/// be as far off. With a tolerance above 1e-10 it must be within 10 tolerances there and at the points of the next
/// grid. Each point is asked for once; f is called by one thread, and the form that takes many points at once, and
/// writes all of y, is the faster. Throws `fault::usage` for an interval or options that make no sense, `fault::input`
/// where f is NaN or infinite at a point, naming it, and where `most_points` do not resolve f, saying what remains.
series fit(const std::function<double(double)>& f, interval on = {}, const fit_options& options = {});
series fit(const std::function<void(cview<double> x, view<double> y)>& f, interval on = {},
           const fit_options& options = {});

} // namespace furrow::chebyshev
