// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

#include <functional>
#include <string>

namespace furrow::chebyshev {

/// How far p is from f between the points that it was made of, relative to the largest value: at 1001 points or twice
/// as many as it has coefficients. Throws `fault::input` where f is not finite there.
double error_between(const std::function<void(cview<double> x, view<double> y)>& f, const series& p);
double error_between(const std::function<double(double)>& f, const series& p);

/// What a person is told of such an error: nothing where the tolerance or rounding allows it.
std::string told_between(double error, const series& p, double tolerance);

} // namespace furrow::chebyshev
