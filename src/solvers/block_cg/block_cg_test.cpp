// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides, by block conjugate gradients and by others.
#include "kit/columns_check.hpp"
#include "kit/guarded.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

solve_options with(std::string solver, std::string precond, double rtol) {
  return kit::options(std::move(solver), std::move(precond), rtol);
}

template <class V> struct block_cg_columns : testing::Test { static constexpr double rtol = kit::goal_of_columns<V>; };
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(block_cg_columns, precisions);

TYPED_TEST(block_cg_columns, are_solved_with_every_preconditioner_of_cg) {
  using V = TypeParam;
  const auto a = kit::laplacian(24, 20);
  for (const char* m : {"none", "jacobi", "ic0", "fsai", "amg"})
    for (const index_t s : {1, 2, 3, 8, 16, 21}) {
      SCOPED_TRACE(std::string(m) + ", " + std::to_string(s) + " columns");
      const auto b = kit::random_vector<V>(480 * s, 5);
      const auto block = kit::solve_columns<V>(a, b, with("block_cg", m, this->rtol));
      EXPECT_TRUE(block.all(status::converged)) << block.reports[0].message;
      const auto alone = kit::solve_columns<V>(a, b, with("cg", m, this->rtol));
      EXPECT_LE(block.most_iterations(), alone.most_iterations() + 2);
    }
}

TYPED_TEST(block_cg_columns, take_fewer_iterations_together) { kit::check_fewer_iterations<TypeParam>(with); }

TYPED_TEST(block_cg_columns, may_depend_on_each_other) { kit::check_dependent_columns<TypeParam>(with); }

TYPED_TEST(block_cg_columns, may_differ_in_size_and_end_at_different_times) {
  kit::check_columns_of_other_sizes<TypeParam>(with);
}

TYPED_TEST(block_cg_columns, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = kit::laplacian(70, 60);
  const auto b = kit::random_vector<V>(4200 * 5, 13);
  kit::answers<V> first;
  for (const int threads : {1, 2, 3, 1}) {
    set_threads(threads);
    auto next = kit::solve_columns<V>(a, b, with("block_cg", "jacobi", this->rtol));
    if (first.reports.empty()) first = std::move(next);
    else {
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(next.x))) << threads;
      for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(first.reports[j].history, next.reports[j].history);
    }
  }
  set_threads(0);
}

TYPED_TEST(block_cg_columns, say_of_each_that_a_is_not_definite) { kit::check_columns_of_indefinite<TypeParam>(with); }

TYPED_TEST(block_cg_columns, end_alone_where_the_matrix_is_singular) {
  kit::check_columns_of_singular<TypeParam>(with);
}

TYPED_TEST(block_cg_columns, keep_one_that_is_not_finite_to_itself) {
  using V = TypeParam;
  auto b = kit::random_vector<V>(100 * 3, 5);
  b[150] = std::numeric_limits<V>::quiet_NaN();
  const auto s = kit::solve_columns<V>(kit::laplacian(10, 10), b, with("block_cg", "jacobi", this->rtol));
  EXPECT_EQ(s.reports[0].why, status::converged);
  EXPECT_EQ(s.reports[1].why, status::nan);
  EXPECT_EQ(s.reports[2].why, status::converged);
}

TYPED_TEST(block_cg_columns, stop_at_the_limit_and_when_they_are_told) { kit::check_stopped_columns<TypeParam>(with); }

TYPED_TEST(block_cg_columns, come_back_no_worse_than_their_first_guess) { kit::check_first_guesses<TypeParam>(with); }

TEST(block_cg, reaches_goals_near_rounding_by_starting_again) {
  auto a = kit::laplacian(400);
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= (1 + 1e4 * double(a.row[k] % 2)) * (1 + 1e4 * double(a.col[k] % 2));
  for (const double rtol : {1e-8, 1e-10, 1e-11, 1e-12, 1e-13}) {
    auto o = with("block_cg", "none", rtol);
    o.max_iterations = 1000000;
    for (const solve_report& r : kit::solve_columns<double>(a, kit::random_vector<double>(400 * 3, 17), o).reports)
      EXPECT_TRUE(r.why == status::converged || r.why == status::stagnated) << rtol << ": " << r.message;
  }
}

/// Rows and columns of a grid in units that differ by up to 16 digits: M takes them out, and what is left of x in small
/// units weighs nothing.
TEST(block_cg, warns_of_columns_that_the_steps_do_not_see) {
  auto a = kit::laplacian(20, 20);
  constexpr index_t n = 400, count = 3;
  const auto unit = [](index_t i) { return std::pow(10.0, double((i * 7919) % 1600) / 100 - 8); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= unit(a.row[k]) * unit(a.col[k]);
  const auto x = kit::random_vector<double>(n * count, 5);
  host_array<double> b(n * count, 0.0);
  for (index_t j = 0; j < count; ++j)
    for (index_t k = 0; k < a.nnz(); ++k) b[j * n + a.row[k]] += a.val[k] * x[j * n + a.col[k]];
  for (const char* m : {"jacobi", "ic0"}) {
    const auto s = kit::solve_columns<double>(a, b, with("block_cg", m, 1e-8));
    for (index_t j = 0; j < count; ++j) {
      double error = 0, size = 0;
      for (index_t i = j * n; i < (j + 1) * n; ++i)
        error = std::max(error, std::abs(s.x[i] - x[i])), size = std::max(size, std::abs(x[i]));
      EXPECT_GT(error, 0.01 * size) << m << j; // or the test asks nothing
      EXPECT_EQ(s.reports[j].why, status::converged);
      EXPECT_NE(s.reports[j].warning, "") << m << j;
    }
    EXPECT_EQ(s.reports[0].error_estimate,
              kit::solve_columns<double>(a, b, with("block_cg", m, 1e-8)).reports[0].error_estimate);
  }
}

TEST(columns, are_solved_one_after_the_other_by_any_solver_with_the_bits_of_a_solve) {
  const auto a = generate("convection2d:20:5").a;
  const auto b = kit::random_vector<double>(400 * 3, 3);
  for (const char* name : {"bicgstab", "gmres:20", "direct", "lsmr"}) {
    const auto o = with(name, "auto", 1e-9);
    const auto all = kit::solve_columns<double>(a, b, o);
    EXPECT_TRUE(all.all(status::converged)) << name;
    for (index_t j = 0; j < 3; ++j) {
      host_array<double> x(400, 0.0);
      solve(a, cview<double>(b.data() + j * 400, 400), as_view(x), o);
      EXPECT_TRUE(kit::same_bits(as_cview(x), cview<double>(all.x.data() + j * 400, 400))) << name;
    }
    EXPECT_EQ(all.reports[1].setup_seconds, 0);
  }
}

TEST(columns, are_taken_at_once_by_auto_where_it_takes_cg) {
  const auto a = kit::laplacian(80, 70);
  auto o = with("auto", "auto", 1e-8);
  const auto s = kit::solve_columns<double>(a, kit::random_vector<double>(5600 * 4, 3), o);
  EXPECT_TRUE(s.all(status::converged));
  for (const solve_report& r : s.reports) EXPECT_EQ(r.solver, "block_cg");
  auto minus = a;
  for (double& v : minus.val) v = -v;
  EXPECT_TRUE(kit::solve_columns<double>(minus, kit::random_vector<double>(5600 * 4, 3), o).all(status::converged));
  const auto general =
      kit::solve_columns<double>(generate("convection2d:60:5").a, kit::random_vector<double>(3600 * 3, 3), o);
  EXPECT_TRUE(general.all(status::converged));
  EXPECT_NE(general.reports[0].solver, "block_cg");
}

TEST(columns, climb_on_together_where_a_rung_is_too_slow) {
  auto a = kit::laplacian(130, 120); // scaled, Jacobi takes too many iterations
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k] && std::abs(a.row[k] - a.col[k]) > 1) a.val[k] *= 1e-3;
    else if (a.row[k] == a.col[k]) a.val[k] = 2.002 + 1e-5;
  const auto s = kit::solve_columns<double>(a, kit::random_vector<double>(15600 * 3, 3), with("auto", "auto", 1e-8));
  EXPECT_TRUE(s.all(status::converged)) << s.reports[0].message;
  for (const solve_report& r : s.reports) EXPECT_GE(r.rungs.size(), 2u);
}

TEST(columns, are_rounded_to_single_precision_one_by_one) {
  auto o = with("block_cg", "jacobi", 1e-4);
  o.values = precision::f32;
  auto b = kit::random_vector<double>(400 * 3, 3);
  EXPECT_TRUE(kit::solve_columns<double>(kit::laplacian(20, 20), b, o).all(status::converged));
  for (index_t i = 0; i < 400; ++i) b[400 + i] *= 1e-60;
  EXPECT_THROW(kit::solve_columns<double>(kit::laplacian(20, 20), b, o), error);
}

/// Two groups of a block, which are at work when somebody is asked for the first time.
TEST(columns, do_not_begin_when_one_before_them_was_stopped) {
  constexpr index_t n = 90000, count = 20;
  const auto a = kit::laplacian(300, 300);
  const auto b = kit::random_vector<double>(n * count, 5);
  for (const char* name : {"cg", "bicgstab", "block_cg", "auto"}) {
    SCOPED_TRACE(name);
    auto o = with(name, "jacobi", 1e-12);
    int told = 0;
    o.watch = [&](const progress&) { return ++told == 0; };
    const auto s = kit::solve_columns<double>(a, b, o);
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(s.all(status::interrupted));
    EXPECT_GT(s.reports.front().iterations, 0);
    EXPECT_EQ(s.reports.back().message, "interrupted before it began");
    EXPECT_EQ(s.x[n * count - 1], 0);
  }
}

TEST(columns, do_not_begin_when_somebody_cancels_between_them) {
  bool cancelled = false;
  auto o = with("direct", "auto", 1e-9);
  o.cancelled = [&] { return cancelled; };
  solver<double> kept(kit::laplacian(20, 20), o);
  cancelled = true;
  const auto b = kit::random_vector<double>(400 * 3, 3);
  host_array<double> x(400 * 3, 0.0);
  const auto reports = kept.solve(as_cview(b), as_view(x), 3);
  EXPECT_EQ(reports[0].why, status::converged);
  for (const std::size_t j : {1, 2}) EXPECT_EQ(reports[j].message, "interrupted before it began");
}

TEST(columns, of_wrong_sizes_are_refused_in_a_sentence) {
  solver<double> kept(kit::laplacian(4, 4), with("block_cg", "jacobi", 1e-8));
  host_array<double> b(32, 1.0), x(32, 0.0);
  const auto refused = [&](cview<double> from, view<double> to, index_t columns) -> std::string {
    return kit::said_by(fault::usage, [&] { kept.solve(from, to, columns); });
  };
  EXPECT_EQ(refused(as_cview(b), as_view(x), 0), "0 right-hand sides: give at least one");
  EXPECT_EQ(refused(as_cview(b), as_view(x), 3),
            "3 right-hand sides have 32 elements for a matrix of 16 rows: give one for each row and column");
  EXPECT_EQ(refused(as_cview(b), part(as_view(x), 0, 16), 2),
            "2 answers have 16 elements for a matrix of 16 columns: give one for each");
  EXPECT_EQ(refused(as_cview(b), as_view(b), 2), "x and b share memory: give each its own");
  EXPECT_EQ(refused({nullptr, 32}, as_view(x), 2), "x or b points nowhere, but has 32 elements");
}

} // namespace
} // namespace furrow
