// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once on a GPU, beside the CPU.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct answers {
  std::vector<solve_report> reports;
  host_array<V> x;
  bool all(status why) const {
    return std::ranges::all_of(reports, [&](const solve_report& r) { return r.why == why; });
  }
  index_t most_iterations() const { return std::ranges::max(reports, {}, &solve_report::iterations).iterations; }
};

template <class V> struct gpu_block_cg : on_gpu_in<V> {
  static constexpr double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;

  solve_options options(std::string precond, std::string method = "block_cg") const {
    return this->solving(std::move(method), std::move(precond), rtol);
  }
  /// Solves, and holds each report to the truth in long double.
  answers<V> solve(const coo<double>& matrix, const host_array<V>& b, const solve_options& o,
                   host_array<V> x = {}) const {
    const coo<V> a = kit::as_precision<V>(matrix);
    const index_t n = a.shape.rows, columns = b.size() / n;
    if (x.empty()) x = host_array<V>(b.size(), V(0));
    answers<V> result{solver<V>(a, o).solve(as_cview(b), as_view(x), columns), std::move(x)};
    EXPECT_EQ(std::ssize(result.reports), columns);
    for (index_t j = 0; j < columns; ++j) {
      SCOPED_TRACE("column " + std::to_string(j));
      const solve_report& r = result.reports[static_cast<std::size_t>(j)];
      const auto truth = kit::true_residual(a, cview<V>(b.data() + j * n, n), cview<V>(result.x.data() + j * n, n));
      EXPECT_FALSE(r.message.empty());
      if (r.why == status::converged) {
        EXPECT_LE(truth.norm, o.rtol * truth.norm_b * (1 + 1e-6L) + truth.rounding) << r.message;
      }
      if (std::isfinite(r.relative_residual) && truth.norm_b > 0) {
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
};
TYPED_TEST_SUITE(gpu_block_cg, precisions);

TYPED_TEST(gpu_block_cg, takes_as_many_steps_as_on_the_cpu_with_every_preconditioner) {
  using V = TypeParam;
  const auto a = kit::laplacian(34, 30);
  for (const char* m : {"none", "jacobi", "ic0", "fsai", "amg"})
    for (const index_t s : {1, 2, 3, 4, 8, 16, 21}) {
      SCOPED_TRACE(std::string(m) + ", " + std::to_string(s) + " columns");
      const auto b = kit::random_vector<V>(1020 * s, 5);
      auto o = this->options(m);
      const auto there = this->solve(a, b, o);
      EXPECT_TRUE(there.all(status::converged)) << there.reports[0].message;
      o.where = {};
      const auto here = this->solve(a, b, o);
      EXPECT_NEAR(double(there.most_iterations()), double(here.most_iterations()),
                  2 + 0.1 * double(here.most_iterations()));
      if (s > 1 && there.reports[0].condition_estimate > 0) {
        EXPECT_NEAR(there.reports[0].condition_estimate, here.reports[0].condition_estimate,
                    0.2 * here.reports[0].condition_estimate);
      }
    }
}

TYPED_TEST(gpu_block_cg, takes_fewer_iterations_together) {
  using V = TypeParam;
  const auto a = kit::laplacian(70, 70);
  const auto b = kit::random_vector<V>(4900 * 8, 7);
  const auto block = this->solve(a, b, this->options("jacobi"));
  const auto alone = this->solve(a, b, this->options("jacobi", "cg"));
  EXPECT_TRUE(block.all(status::converged));
  EXPECT_LT(double(block.most_iterations()), 0.7 * double(alone.most_iterations()));
}

TYPED_TEST(gpu_block_cg, takes_every_format) {
  using V = TypeParam;
  const auto a = kit::laplacian(40, 41);
  const auto b = kit::random_vector<V>(1640 * 5, 3);
  for (const char* format : {"csr", "ell", "sell", "dia", "packed", "stencil", "coo", "hyb", "dense"}) {
    SCOPED_TRACE(format);
    auto o = this->options("jacobi");
    o.format = format;
    EXPECT_TRUE(this->solve(a, b, o).all(status::converged));
  }
  const auto solid = generate("elasticity3d:5").a;
  auto of_blocks = this->options("jacobi");
  of_blocks.format = "bcsr";
  EXPECT_TRUE(this->solve(solid, kit::random_vector<V>(solid.shape.rows * 4, 3), of_blocks).all(status::converged));
  const auto arrow = kit::from_function(600, [](index_t i, index_t j) { // rows of a hub are multiplied one by one
    return i == j ? 2.0 + double(i ? 0 : 700) : i == 0 || j == 0 ? -1.0 : 0.0;
  });
  auto o = this->options("ic0");
  o.format = "csr";
  EXPECT_TRUE(this->solve(arrow, kit::random_vector<V>(600 * 3, 3), o).all(status::converged));
}

TYPED_TEST(gpu_block_cg, takes_columns_that_depend_on_each_other) {
  using V = TypeParam;
  const index_t n = 400;
  const auto a = kit::laplacian(20, 20);
  for (const char* m : {"none", "jacobi", "ic0"}) {
    SCOPED_TRACE(m);
    auto b = kit::random_vector<V>(n * 6, 11);
    for (index_t i = 0; i < n; ++i) {
      b[n + i] = b[i];                        // twice the same
      b[2 * n + i] = 0;                       // nothing
      b[4 * n + i] = b[i] + 2 * b[3 * n + i]; // in the span of others
      b[5 * n + i] = b[i] + V(1e-3) * b[3 * n + i];
    }
    const auto s = this->solve(a, b, this->options(m));
    EXPECT_TRUE(s.all(status::converged));
    EXPECT_EQ(s.reports[2].iterations, 0);
    EXPECT_TRUE(std::all_of(s.x.data() + 2 * n, s.x.data() + 3 * n, [](V v) { return v == 0; }));
    const host_array<V> same(n * 5, V(3));
    EXPECT_TRUE(this->solve(a, same, this->options(m)).all(status::converged));
  }
  for (const index_t few : {2, 3, 5}) // more columns than rows
    EXPECT_TRUE(this->solve(kit::laplacian(few), kit::random_vector<V>(few * 40, 3), this->options("jacobi"))
                    .all(status::converged));
}

TYPED_TEST(gpu_block_cg, takes_columns_of_other_sizes_and_ends) {
  using V = TypeParam;
  const index_t n = 900;
  auto b = kit::random_vector<V>(n * 4, 3);
  const double size = sizeof(V) == 8 ? 1e60 : 1e12;
  for (index_t i = 0; i < n; ++i) {
    b[i] *= V(size), b[n + i] /= V(size);
    const double step = std::acos(-1.0) / 31; // an eigenvector
    b[2 * n + i] = V(std::sin(step * double(i % 30 + 1)) * std::sin(step * double(i / 30 + 1)));
  }
  const auto s = this->solve(kit::laplacian(30, 30), b, this->options("jacobi"));
  EXPECT_TRUE(s.all(status::converged));
  EXPECT_LE(s.reports[2].iterations, 2);
  EXPECT_GT(s.reports[3].iterations, 10);
}

TYPED_TEST(gpu_block_cg, has_the_same_bits_on_every_run_and_for_vectors_on_the_gpu) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(170, 160));
  const index_t n = 27200;
  for (const index_t s : {2, 3, 8, 16})
    for (const char* m : {"jacobi", "fsai"}) {
      SCOPED_TRACE(std::string(m) + ", " + std::to_string(s) + " columns");
      const auto b = kit::random_vector<V>(n * s, 13), guess = kit::random_vector<V>(n * s, 14);
      solver<V> kept(a, this->options(m));
      host_array<V> x = guess, y = guess;
      const auto first = kept.solve(as_cview(b), as_view(x), s), again = kept.solve(as_cview(b), as_view(y), s);
      EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(y)));
      const gpu_array<V> there_b(b);
      gpu_array<V> there_x(guess);
      const auto there = kept.solve(as_cview(there_b), as_view(there_x), s);
      EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(there_x)), as_cview(x)));
      for (std::size_t j = 0; j < first.size(); ++j) {
        EXPECT_EQ(first[j].why, status::converged) << first[j].message;
        EXPECT_EQ(first[j].history, again[j].history);
        EXPECT_EQ(first[j].history, there[j].history);
      }
    }
}

TYPED_TEST(gpu_block_cg, takes_special_columns_on_the_gpu_to_the_host) {
  using V = TypeParam;
  auto b = kit::random_vector<V>(100 * 3, 5);
  b[150] = std::numeric_limits<V>::quiet_NaN();
  const coo<V> a = kit::as_precision<V>(kit::laplacian(10, 10));
  solver<V> kept(a, this->options("jacobi"));
  for (const bool is_there : {false, true}) {
    host_array<V> x(300, V(0));
    const gpu_array<V> there_b(b);
    gpu_array<V> there_x(x);
    const auto reports =
        is_there ? kept.solve(as_cview(there_b), as_view(there_x), 3) : kept.solve(as_cview(b), as_view(x), 3);
    EXPECT_EQ(reports[0].why, status::converged) << reports[0].message;
    EXPECT_EQ(reports[1].why, status::nan);
    EXPECT_EQ(reports[2].why, status::converged);
  }
}

TYPED_TEST(gpu_block_cg, says_of_each_that_a_is_not_definite) {
  using V = TypeParam;
  const auto a = kit::from_function(30, [](index_t i, index_t j) {
    return i != j ? 0.1 : i % 3 ? 1.0 + double(i) : -2.0;
  });
  const auto s = this->solve(a, kit::random_vector<V>(30 * 4, 3), this->options("none"));
  EXPECT_TRUE(s.all(status::not_positive_definite)) << s.reports[0].message;
  EXPECT_NE(s.reports[0].message.find("is negative, so the matrix is not positive definite"), std::string::npos);
}

TYPED_TEST(gpu_block_cg, ends_alone_where_the_matrix_is_singular) {
  using V = TypeParam;
  const index_t n = 200; // a chain without ends: ones are in its null space
  auto a = kit::laplacian(n);
  a.val[0] = a.val[a.nnz() - 1] = 1;
  auto b = kit::random_vector<V>(n * 3, 5);
  double mean = 0;
  for (index_t i = 0; i < n; ++i) mean += double(b[i]) / double(n);
  for (index_t i = 0; i < n; ++i) b[i] = V(double(b[i]) - mean); // in the range, up to rounding
  auto o = this->options("none");
  o.rtol = sizeof(V) == 8 ? 1e-8 : 1e-3;
  const auto s = this->solve(a, b, o);
  EXPECT_EQ(s.reports[0].why, status::converged) << s.reports[0].message;
  EXPECT_NE(s.reports[1].why, status::converged);
  EXPECT_NE(s.reports[2].why, status::converged);
}

TYPED_TEST(gpu_block_cg, stops_at_the_limit_and_when_it_is_told) {
  using V = TypeParam;
  const auto a = kit::laplacian(60, 60);
  const auto b = kit::random_vector<V>(3600 * 4, 5);
  auto o = this->options("jacobi");
  o.max_iterations = 7;
  const auto limited = this->solve(a, b, o);
  EXPECT_TRUE(limited.all(status::max_iterations));
  for (const solve_report& r : limited.reports) EXPECT_EQ(r.iterations, 7) << r.message;
  const auto large = kit::laplacian(900, 900);
  const host_array<V> ones(810000 * 2, V(1));
  o.max_iterations = 0, o.time_limit = 0;
  EXPECT_TRUE(this->solve(large, ones, o).all(status::max_iterations));
  o.time_limit = std::numeric_limits<double>::infinity();
  o.watch = [](const progress&) { return false; };
  EXPECT_TRUE(this->solve(large, ones, o).all(status::interrupted));
}

TYPED_TEST(gpu_block_cg, comes_back_no_worse_than_the_first_guess) {
  using V = TypeParam;
  const auto a = kit::laplacian(40, 40);
  const host_array<V> near(1600 * 3, V(1));
  const auto b = kit::times<V>(a, host_array<V>(1600, V(1)));
  host_array<V> all(1600 * 3);
  for (index_t i = 0; i < all.size(); ++i) all[i] = b[i % 1600];
  const auto done = this->solve(a, all, this->options("jacobi"), near);
  EXPECT_TRUE(done.all(status::converged));
  EXPECT_EQ(done.most_iterations(), 0);
  auto o = this->options("jacobi");
  o.max_iterations = 1;
  for (const solve_report& r : this->solve(a, all, o, kit::random_vector<V>(4800, 4)).reports)
    EXPECT_LE(r.relative_residual, r.history[0]);
}

TYPED_TEST(gpu_block_cg, is_what_auto_takes_for_several_columns) {
  using V = TypeParam;
  const auto a = kit::laplacian(1100, 1000); // too large for the chip
  const auto s = this->solve(a, kit::random_vector<V>(1100000 * 2, 3), this->options("jacobi", "auto"));
  EXPECT_TRUE(s.all(status::converged)) << s.reports[0].message;
  for (const solve_report& r : s.reports) EXPECT_EQ(r.solver, "block_cg");
}

} // namespace
} // namespace furrow
