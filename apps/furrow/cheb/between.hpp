// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

#include <functional>
#include <string>

namespace furrow::cli::cheb_command {

/// How far p is from f between the points that it was made of, relative to the largest value. Throws `fault::input`
/// where f is not finite there.
double error_between(const std::function<double(double)>& f, const chebyshev::series& p);

/// What a person is told of such an error: nothing where the tolerance or rounding allows it.
std::string told_between(double error, const chebyshev::series& p, double tolerance);

} // namespace furrow::cli::cheb_command
