// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "random.hpp"
#include "solve_check.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/// What several right-hand sides at once must keep, on the CPU and on a GPU.
namespace furrow::kit {

/// Options of a solver, a preconditioner and a goal, for a device.
using asked_options = std::function<solve_options(std::string, std::string, double)>;
template <class V> inline constexpr double goal_of_columns = sizeof(V) == 8 ? 1e-10 : 1e-4;

template <class V> struct answers {
  std::vector<solve_report> reports;
  host_array<V> x;
  bool all(status why) const {
    return std::ranges::all_of(reports, [&](const solve_report& r) { return r.why == why; });
  }
  index_t most_iterations() const { return std::ranges::max(reports, {}, &solve_report::iterations).iterations; }
};

/// Solves, and holds each report to the truth in long double.
template <class V>
answers<V> solve_columns(const coo<double>& matrix, const host_array<V>& b, const solve_options& o,
                         host_array<V> x = {}) {
  const coo<V> a = as_precision<V>(matrix);
  const index_t n = a.shape.rows, columns = b.size() / n;
  if (x.empty()) x = host_array<V>(b.size(), V(0));
  answers<V> result{solver<V>(a, o).solve(as_cview(b), as_view(x), columns), std::move(x)};
  EXPECT_EQ(std::ssize(result.reports), columns);
  for (index_t j = 0; j < columns; ++j) {
    SCOPED_TRACE("column " + std::to_string(j));
    const solve_report& r = result.reports[static_cast<std::size_t>(j)];
    const auto truth = true_residual(a, cview<V>(b.data() + j * n, n), cview<V>(result.x.data() + j * n, n));
    EXPECT_FALSE(r.message.empty());
    if (r.why == status::converged) {
      EXPECT_LE(truth.norm, o.rtol * truth.norm_b * (1 + 1e-6L) + truth.rounding) << r.message;
    }
    if (std::isfinite(r.relative_residual) && truth.norm_b > 0 && (sizeof(V) == 4 || o.values == precision::f64)) {
      EXPECT_NEAR(r.relative_residual, double(truth.norm / truth.norm_b),
                  double((truth.rounding + 1e-6L * truth.norm) / truth.norm_b))
          << r.message;
    }
    if (r.iterations > 0) {
      EXPECT_EQ(std::ssize(r.history), r.iterations + 1);
      EXPECT_EQ(r.history.size(), r.history_seconds.size());
      EXPECT_TRUE(std::ranges::is_sorted(r.history_seconds));
    }
  }
  return result;
}

/// Copies, zeros and combinations of other columns.
template <class V> void check_dependent_columns(const asked_options& ask) {
  const index_t n = 400;
  const auto a = laplacian(20, 20);
  for (const char* m : {"none", "jacobi", "ic0"}) {
    SCOPED_TRACE(m);
    auto b = random_vector<V>(n * 6, 11);
    for (index_t i = 0; i < n; ++i) {
      b[n + i] = b[i];                        // twice the same
      b[2 * n + i] = 0;                       // nothing
      b[4 * n + i] = b[i] + 2 * b[3 * n + i]; // in the span of others
      b[5 * n + i] = b[i] + V(1e-3) * b[3 * n + i];
    }
    const auto s = solve_columns<V>(a, b, ask("block_cg", m, goal_of_columns<V>));
    EXPECT_TRUE(s.all(status::converged));
    EXPECT_EQ(s.reports[2].iterations, 0);
    EXPECT_TRUE(std::all_of(s.x.data() + 2 * n, s.x.data() + 3 * n, [](V v) { return v == 0; }));
    const host_array<V> same(n * 5, V(3)); // nothing but copies: a block of one direction
    EXPECT_TRUE(solve_columns<V>(a, same, ask("block_cg", m, goal_of_columns<V>)).all(status::converged));
  }
  for (const char* m : {"none", "jacobi", "ssor", "ic0", "fsai"})
    for (const index_t few : {2, 3, 5}) { // more columns than rows
      SCOPED_TRACE(std::string(m) + ", " + std::to_string(few) + " rows");
      const auto b = random_vector<V>(few * 40, 3);
      EXPECT_TRUE(solve_columns<V>(laplacian(few), b, ask("block_cg", m, goal_of_columns<V>)).all(status::converged));
    }
}

/// Sizes that the arithmetic cannot hold together, and a column that is done at once.
template <class V> void check_columns_of_other_sizes(const asked_options& ask) {
  const index_t n = 900;
  const auto a = laplacian(30, 30);
  auto b = random_vector<V>(n * 4, 3);
  const double size = sizeof(V) == 8 ? 1e60 : 1e12;
  for (index_t i = 0; i < n; ++i) {
    b[i] *= V(size), b[n + i] /= V(size);
    const double step = std::acos(-1.0) / 31; // an eigenvector
    b[2 * n + i] = V(std::sin(step * double(i % 30 + 1)) * std::sin(step * double(i / 30 + 1)));
  }
  const auto s = solve_columns<V>(a, b, ask("block_cg", "jacobi", goal_of_columns<V>));
  EXPECT_TRUE(s.all(status::converged));
  EXPECT_LE(s.reports[2].iterations, 2);
  EXPECT_GT(s.reports[3].iterations, 10);
}

template <class V> void check_columns_of_indefinite(const asked_options& ask) {
  const auto a = from_function(30, [](index_t i, index_t j) { return i != j ? 0.1 : i % 3 ? 1.0 + double(i) : -2.0; });
  const auto s = solve_columns<V>(a, random_vector<V>(30 * 4, 3), ask("block_cg", "none", goal_of_columns<V>));
  EXPECT_TRUE(s.all(status::not_positive_definite)) << s.reports[0].message;
  EXPECT_NE(s.reports[0].message.find("is negative, so the matrix is not positive definite"), std::string::npos);
}

/// One column is in the range of a singular matrix.
template <class V> void check_columns_of_singular(const asked_options& ask) {
  const index_t n = 200; // a chain without ends: ones are in its null space
  auto a = laplacian(n);
  a.val[0] = a.val[a.nnz() - 1] = 1;
  auto b = random_vector<V>(n * 3, 5);
  double mean = 0;
  for (index_t i = 0; i < n; ++i) mean += double(b[i]) / double(n);
  for (index_t i = 0; i < n; ++i) b[i] = V(double(b[i]) - mean); // in the range, up to rounding
  const auto s = solve_columns<V>(a, b, ask("block_cg", "none", sizeof(V) == 8 ? 1e-8 : 1e-3));
  EXPECT_EQ(s.reports[0].why, status::converged) << s.reports[0].message;
  EXPECT_NE(s.reports[1].why, status::converged);
  EXPECT_NE(s.reports[2].why, status::converged);
}

template <class V> void check_stopped_columns(const asked_options& ask) {
  const auto a = laplacian(60, 60);
  const auto b = random_vector<V>(3600 * 4, 5);
  auto o = ask("block_cg", "jacobi", goal_of_columns<V>);
  o.max_iterations = 7;
  const auto limited = solve_columns<V>(a, b, o);
  EXPECT_TRUE(limited.all(status::max_iterations));
  for (const solve_report& r : limited.reports) EXPECT_EQ(r.iterations, 7) << r.message;
  const auto large = laplacian(900, 900); // a GPU is not done with it before it is told
  const host_array<V> ones(810000 * 2, V(1));
  o.max_iterations = 0, o.time_limit = 0;
  EXPECT_TRUE(solve_columns<V>(large, ones, o).all(status::max_iterations));
  o.time_limit = std::numeric_limits<double>::infinity();
  o.watch = [](const progress&) { return false; };
  EXPECT_TRUE(solve_columns<V>(large, ones, o).all(status::interrupted));
}

/// Of x, and none of which is worse than where it began.
template <class V> void check_first_guesses(const asked_options& ask) {
  const auto a = laplacian(40, 40);
  const host_array<V> near(1600 * 3, V(1));
  auto b = times<V>(a, host_array<V>(1600, V(1)));
  host_array<V> all(1600 * 3);
  for (index_t i = 0; i < all.size(); ++i) all[i] = b[i % 1600];
  const auto done = solve_columns<V>(a, all, ask("block_cg", "jacobi", goal_of_columns<V>), near);
  EXPECT_TRUE(done.all(status::converged));
  EXPECT_EQ(done.most_iterations(), 0);
  auto o = ask("block_cg", "jacobi", goal_of_columns<V>);
  o.max_iterations = 1;
  auto far = random_vector<V>(1600 * 3, 4);
  for (const solve_report& r : solve_columns<V>(a, all, o, far).reports) EXPECT_LE(r.relative_residual, r.history[0]);
}

template <class V> void check_fewer_iterations(const asked_options& ask) {
  const auto a = laplacian(50, 50);
  const auto b = random_vector<V>(2500 * 8, 7);
  const auto block = solve_columns<V>(a, b, ask("block_cg", "jacobi", goal_of_columns<V>));
  const auto alone = solve_columns<V>(a, b, ask("cg", "jacobi", goal_of_columns<V>));
  EXPECT_TRUE(block.all(status::converged));
  EXPECT_LT(double(block.most_iterations()), 0.7 * double(alone.most_iterations()));
}

} // namespace furrow::kit
