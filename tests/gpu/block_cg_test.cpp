// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once on a GPU, beside the CPU.
#include "on_gpu.hpp"

#include "kit/columns_check.hpp"
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct gpu_block_cg : on_gpu_in<V> {
  static constexpr double rtol = kit::goal_of_columns<V>;

  solve_options options(std::string precond, std::string method = "block_cg") const {
    return this->solving(std::move(method), std::move(precond), rtol);
  }
  kit::asked_options asks() const {
    return [this](std::string method, std::string precond, double goal) {
      return this->solving(std::move(method), std::move(precond), goal);
    };
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
      const auto there = kit::solve_columns<V>(a, b, o);
      EXPECT_TRUE(there.all(status::converged)) << there.reports[0].message;
      o.where = {};
      const auto here = kit::solve_columns<V>(a, b, o);
      EXPECT_NEAR(double(there.most_iterations()), double(here.most_iterations()),
                  2 + 0.1 * double(here.most_iterations()));
      if (s > 1 && there.reports[0].condition_estimate > 0) {
        EXPECT_NEAR(there.reports[0].condition_estimate, here.reports[0].condition_estimate,
                    0.2 * here.reports[0].condition_estimate);
      }
    }
}

TYPED_TEST(gpu_block_cg, takes_fewer_iterations_together) { kit::check_fewer_iterations<TypeParam>(this->asks()); }

TYPED_TEST(gpu_block_cg, takes_every_format) {
  using V = TypeParam;
  const auto a = kit::laplacian(40, 41);
  const auto b = kit::random_vector<V>(1640 * 5, 3);
  for (const char* format : {"csr", "ell", "sell", "dia", "packed", "stencil", "coo", "hyb"}) {
    SCOPED_TRACE(format);
    auto o = this->options("jacobi");
    o.format = format;
    EXPECT_TRUE(kit::solve_columns<V>(a, b, o).all(status::converged));
  }
  auto dense = this->options("jacobi");
  dense.format = "dense";
  EXPECT_TRUE(
      kit::solve_columns<V>(kit::laplacian(7, 8), kit::random_vector<V>(56 * 5, 3), dense).all(status::converged));
  const auto solid = generate("elasticity3d:5").a;
  auto of_blocks = this->options("jacobi");
  of_blocks.format = "bcsr";
  EXPECT_TRUE(
      kit::solve_columns<V>(solid, kit::random_vector<V>(solid.shape.rows * 4, 3), of_blocks).all(status::converged));
  const auto arrow = kit::from_function(600, [](index_t i, index_t j) { // the hub's row has blocks of its own
    return i == j ? 2.0 + double(i ? 0 : 700) : i == 0 || j == 0 ? -1.0 : 0.0;
  });
  auto o = this->options("ic0");
  o.format = "csr";
  EXPECT_TRUE(kit::solve_columns<V>(arrow, kit::random_vector<V>(600 * 3, 3), o).all(status::converged));
}

TYPED_TEST(gpu_block_cg, takes_columns_that_depend_on_each_other) {
  kit::check_dependent_columns<TypeParam>(this->asks());
}

TYPED_TEST(gpu_block_cg, takes_columns_of_other_sizes_and_ends) {
  kit::check_columns_of_other_sizes<TypeParam>(this->asks());
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
  kit::check_columns_of_indefinite<TypeParam>(this->asks());
}

TYPED_TEST(gpu_block_cg, ends_alone_where_the_matrix_is_singular) {
  kit::check_columns_of_singular<TypeParam>(this->asks());
}

TYPED_TEST(gpu_block_cg, stops_at_the_limit_and_when_it_is_told) {
  kit::check_stopped_columns<TypeParam>(this->asks());
}

TYPED_TEST(gpu_block_cg, comes_back_no_worse_than_the_first_guess) {
  kit::check_first_guesses<TypeParam>(this->asks());
}

TYPED_TEST(gpu_block_cg, is_what_auto_takes_for_several_columns) {
  using V = TypeParam;
  const auto a = kit::laplacian(1100, 1000); // too large for the chip
  const auto s = kit::solve_columns<V>(a, kit::random_vector<V>(1100000 * 2, 3), this->options("jacobi", "auto"));
  EXPECT_TRUE(s.all(status::converged)) << s.reports[0].message;
  for (const solve_report& r : s.reports) EXPECT_EQ(r.solver, "block_cg");
}

} // namespace
} // namespace furrow
