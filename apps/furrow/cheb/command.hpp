// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subcommand.hpp"

#include <furrow/chebyshev/series.hpp>

#include <string>
#include <vector>

namespace furrow::cli::cheb_command {

/// Each declares the options of one word after `furrow cheb`, in an app of its own, and returns what runs.
std::function<int()> add_fit(CLI::App& app, context& shared);
std::function<int()> add_eval(CLI::App& app, context& shared);
std::function<int()> add_roots(CLI::App& app, context& shared);
std::function<int()> add_density(CLI::App& app, context& shared);

/// --on LO,HI
void add_interval(CLI::App& app, std::string& on);
/// "-1,1" as an interval, "1,2.5,pi" as numbers; throw `fault::usage` and name what is wrong. `name`: the option's.
chebyshev::interval parse_interval(const std::string& text);
chebyshev::interval parse_ends(const std::string& text); ///< the same, not yet checked to be an interval
std::vector<double> parse_numbers(const std::string& text, const std::string& name);

/// A function of x as a person writes it: numbers, x, pi, e, + - * / ^, brackets, calls. Powers come first and go from
/// the right: -x^2 = -(x^2), 2^3^2 = 2^9. Throws `fault::usage` with the place of what cannot be understood.
std::function<double(double)> parse_expression(const std::string& text);

} // namespace furrow::cli::cheb_command
