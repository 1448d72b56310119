// SPDX-License-Identifier: BSD-3-Clause
// What `auto` says of how far off the x of more rows than columns may be.
#include "solve_test_kit.hpp"

#include "kit/matrices.hpp"

#include <furrow/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow::solve_test {
namespace {

/// Powers below `cols` of points from 10 to 11, which nearly depend on each other.
coo<double> powers(index_t rows, index_t cols) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < cols; ++j) entries.push_back({i, j, std::pow(10 + double(i) / double(rows), double(j))});
  return kit::assemble({rows, cols}, std::move(entries));
}
/// Up to four entries a row, 4 in its own column; `copied`: the second column is the first one.
coo<double> sparse(index_t rows, index_t cols, bool copied = false) {
  const auto r = kit::random_vector<double>(rows * 3, 5);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i)
    for (index_t k = 0; k < 4; ++k) {
      const index_t j = (i + k * k * 7) % cols;
      const double v = k == 0 ? 4 : r[i * 3 + k - 1];
      if (!copied || j != 1) entries.push_back({i, j, v});
      if (copied && j == 0) entries.push_back({i, 1, v});
    }
  return kit::assemble({rows, cols}, std::move(entries));
}

struct answer {
  solve_report report;
  double error; ///< beside the x that b was made of
};
answer solved(const coo<double>& a, solver<double>& by, std::uint64_t seed) {
  const auto x = kit::random_vector<double>(a.shape.cols, seed);
  host_array<double> b(a.shape.rows, 0.0), found(a.shape.cols, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) b[a.row[k]] += a.val[k] * x[a.col[k]];
  answer end{by.solve(as_cview(b), as_view(found)), 0};
  double largest = 0;
  for (index_t j = 0; j < x.size(); ++j)
    end.error = std::max(end.error, std::abs(found[j] - x[j])), largest = std::max(largest, std::abs(x[j]));
  end.error /= largest;
  return end;
}

/// 60 rows by complete factors, 5,000 by another start.
TEST(nearest_look, warns_of_columns_that_nearly_depend_on_each_other) {
  for (const index_t rows : {60, 5000}) {
    const auto a = powers(rows, rows < 100 ? 6 : 5);
    solver<double> by(a, by_auto());
    for (const std::uint64_t seed : {3, 4, 5}) {
      const answer end = solved(a, by, seed);
      EXPECT_EQ(end.report.why, status::converged) << end.report.message;
      EXPECT_TRUE(end.error <= 0.01 || !end.report.warning.empty()) << rows << ": " << end.error;
      EXPECT_TRUE(seed != 3 || end.error > 0.01) << "or this test asks nothing";
    }
  }
}

TEST(nearest_look, says_nothing_of_columns_that_do_not) {
  for (const index_t rows : {60, 3000}) {
    const auto a = sparse(rows, rows / 4);
    solver<double> by(a, by_auto());
    for (const std::uint64_t seed : {3, 4}) {
      const answer end = solved(a, by, seed);
      EXPECT_EQ(end.report.why, status::converged);
      EXPECT_EQ(end.report.warning, "");
      EXPECT_GT(end.report.error_estimate, 0.01 * end.error);
      EXPECT_LT(end.error, 1e-6);
    }
  }
}

TEST(nearest_look, says_that_answers_are_many_where_columns_are_the_same) {
  for (const index_t rows : {60, 3000}) {
    const auto a = sparse(rows, rows / 4, true);
    solver<double> by(a, by_auto());
    const answer end = solved(a, by, 3);
    EXPECT_EQ(end.report.why, status::converged);
    EXPECT_TRUE(mentions(end.report.warning, "fit")) << end.report.warning;
  }
}

} // namespace
} // namespace furrow::solve_test
