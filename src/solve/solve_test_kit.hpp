// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
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

/// A grid of 90 x 90 points without so much of its diagonal: 8,100 rows, some of whose eigenvalues are negative.
inline coo<double> shifted_grid(double by) {
  auto a = kit::laplacian(90, 90);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= by;
  return a;
}

using kit::mentions;

} // namespace furrow::solve_test
