// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/guarded.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>

#include <limits>

/// What the tests of `solve` share.
namespace furrow::solve_test {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double inf = std::numeric_limits<double>::infinity();

inline solve_options with(std::string precond, double rtol = 1e-10) {
  return kit::options("cg", std::move(precond), rtol);
}

inline solve_options by_auto(double rtol = 1e-8) { return kit::options("auto", "auto", rtol); }

inline host_array<double> ones(index_t n) { return host_array<double>(n, 1.0); }

using kit::mentions;

} // namespace furrow::solve_test
