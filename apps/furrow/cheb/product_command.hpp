// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subcommand.hpp"

#include <furrow/chebyshev/product.hpp>

namespace furrow::cli::cheb_command {

/// Each declares the options of one word after `furrow cheb`, in an app of its own, and returns what runs.
std::function<int()> add_multiply(CLI::App& app, context& shared);
std::function<int()> add_bench(CLI::App& app, context& shared);

/// Seconds of one call, the median after two to warm up: wall clock on the CPU, device events on a GPU. `budget`: about
/// how long all of them may take.
double median_seconds(const std::function<void()>& call, device where, double budget);

} // namespace furrow::cli::cheb_command
