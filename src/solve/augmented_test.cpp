// SPDX-License-Identifier: BSD-3-Clause
#include "augmented.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

/// Columns from 1e-6 to 1e5 long, which nearly depend on each other.
TEST(augmented_system, has_the_least_residual) {
  const index_t rows = 60, cols = 12;
  const auto r = kit::random_vector<double>(rows * cols, 7);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j)
      entries.push_back({i, j, std::pow(10.0, double(j) - 6) * (1 + 1e-4 * r[i * cols + j])});
  const auto a = kit::assemble({rows, cols}, std::move(entries));
  const auto b = kit::random_vector<double>(rows, 8);
  host_array<double> x(cols, 0.0);
  augmented_system factors(a, {});
  factors.solve(as_cview(b), as_view(x), {});
  std::vector<long double> left(b.begin(), b.end());
  for (index_t k = 0; k < a.nnz(); ++k) left[a.row[k]] -= static_cast<long double>(a.val[k]) * x[a.col[k]];
  for (index_t j = 0; j < cols; ++j) {
    long double normal = 0, squares = 0;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.col[k] == j) normal += a.val[k] * left[a.row[k]], squares += a.val[k] * a.val[k];
    EXPECT_LT(std::abs(double(normal / std::sqrt(squares))), 1e-11) << j; // the whole of b gives 4
  }
}

} // namespace
} // namespace furrow
