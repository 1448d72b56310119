// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/solve_check.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <string>

namespace furrow::kit {

/// What a solver with that preconditioner takes for b = A * ones to 1e-8, where it has to converge.
inline index_t iterations(const char* matrix, const char* solver, const std::string& precond) {
  const auto a = generate(matrix).a;
  const auto b = times(a, host_array<double>(a.shape.rows, 1.0));
  const auto s = solve_honestly<double>(a, b, options(solver, precond, 1e-8));
  EXPECT_EQ(s.report.why, status::converged) << precond << ' ' << s.report.message;
  return s.report.iterations;
}

} // namespace furrow::kit
