// SPDX-License-Identifier: BSD-3-Clause
// What is said of the error of each answer: of several right-hand sides, of a first guess that was one, of one on
// trial.
#include "largest.hpp"
#include "second_look.hpp"
#include "second_start.hpp"
#include "solve_test_kit.hpp"

#include "kit/hilbert.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

using namespace solve_test;

/// Blocks of nine rows far from normal: similar to a skew matrix and ones, by scales of up to 1e12.
coo<double> far_from_normal(index_t blocks) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < 9 * blocks; ++i) {
    if (i % 9 > 0) entries.push_back({i, i - 1, -0.1});
    entries.push_back({i, i, 1});
    if (i % 9 < 8) entries.push_back({i, i + 1, 100});
  }
  return kit::assemble({9 * blocks, 9 * blocks}, entries);
}

host_array<double> signs(index_t n) {
  host_array<double> x(n);
  for (index_t i = 0; i < n; ++i) x[i] = i % 2 == 0 ? -1 : 1; // full of what Hilbert's matrix makes small
  return x;
}

double apart(cview<double> x, const host_array<double>& expected) {
  double off = 0;
  for (index_t i = 0; i < x.size; ++i) off = std::max(off, std::abs(x[i] - expected[i]));
  return off / largest_element(x);
}

/// A unit vector, whose x is of 1e9, and a small b, of which the same residual hides as much as x has.
TEST(each_answer, is_held_against_its_own_right_hand_side) {
  const index_t n = 8;
  const auto a = kit::hilbert(n);
  const auto expected = signs(n), small = kit::times(a, expected);
  host_array<double> b(2 * n, 0.0), x(2 * n, 0.0);
  b[0] = 1;
  std::copy_n(small.data(), n, b.data() + n);
  solver<double> together(a, {}), kept(a, {});
  const auto reports = together.solve(as_cview(b), as_view(x), 2);
  EXPECT_EQ(reports[0].warning, "") << reports[0].error_estimate;
  EXPECT_GT(apart({x.data() + n, n}, expected), 0.5);
  EXPECT_GT(reports[1].error_estimate, 0.3);
  EXPECT_TRUE(mentions(reports[1].warning, "x may be off by")) << reports[1].warning;
  host_array<double> one(n, 0.0), other(n, 0.0);
  EXPECT_EQ(kept.solve({b.data(), n}, as_view(one)).warning, "");
  const auto next = kept.solve({b.data() + n, n}, as_view(other));
  EXPECT_GT(next.error_estimate, 0.3);
  EXPECT_TRUE(mentions(next.warning, "x may be off by")) << next.warning;
}

TEST(each_answer, is_judged_by_the_first_one_where_factors_are_let_go) {
  const index_t n = 100;
  const auto a = kit::from_function(n, [=](index_t i, index_t j) { return i != j ? 0.0 : i == n - 1 ? 1e-6 : 1.0; });
  for (const double most_kept : {64e6, 0.0}) {
    auto look = factor_look<double>::at(coo<double>(a), 1e9, most_kept);
    ASSERT_TRUE(look);
    host_array<double> x = ones(n), b = kit::times(a, x);
    x[n - 1] = 0.5;
    const double size = std::sqrt(double(n - 1)), relative = 5e-7 / size;
    EXPECT_NEAR(look->of(as_cview(b), as_cview(x), relative).amplification * relative, 0.5, 1e-6);
    for (double& v : x) v = 1e-3;
    for (double& v : b) v = 1;
    b[n - 1] = 0, x[n - 1] = 1e-4; // beside an x that is a thousandth of b: off by 1e-4
    const double r = 1e-10 / std::sqrt(double(n));
    const double error = look->of(as_cview(b), as_cview(x), r).amplification * r;
    EXPECT_GT(error, 0.05);
    const host_array<double> zero(n, 0.0);
    EXPECT_EQ(look->of(as_cview(zero), as_cview(zero), 0).amplification, 0);
  }
}

TEST(each_answer, is_doubted_where_it_was_the_first_guess) {
  const index_t n = 8;
  const auto a = kit::hilbert(n);
  const auto b = kit::times(a, signs(n));
  auto s = kit::solve_honestly(a, b);
  ASSERT_NE(s.report.warning, "");
  const auto again = kit::solve_honestly(a, b, {}, std::move(s.x));
  EXPECT_EQ(again.report.iterations, 0);
  EXPECT_EQ(again.report.warning, s.report.warning);
  const host_array<double> zero(n, 0.0);
  const auto nothing = kit::solve_honestly(a, zero);
  EXPECT_EQ(nothing.report.iterations, 0);
  EXPECT_EQ(nothing.report.warning, "");
  solve_options loose;
  loose.atol = 1e3; // which x = 0 meets
  EXPECT_EQ(kit::solve_honestly(a, b, loose).report.warning, "");
}

TEST(each_answer, takes_little_to_doubt_where_it_was_the_first_guess) {
  features f;
  f.rows = 5000, f.nnz = 20000, f.longest_row = 5;
  solve_report guess;
  guess.solver = "bicgstab", guess.relative_residual = 1e-9;
  EXPECT_TRUE(in_doubt(guess, f));
  EXPECT_FALSE(wants_second_start(guess, f));
  EXPECT_GT(operations_worth(guess, f, {}), 800.0 * 20000);
  EXPECT_LT(operations_worth(guess, f, {}), 5e7);
  f.nnz = 100000; // an order alone would take longer
  EXPECT_EQ(operations_worth(guess, f, {}), 0);
  guess.solver = "direct"; // which has not looked at its pivots
  EXPECT_TRUE(in_doubt(guess, f));
  guess.relative_residual = 0;
  EXPECT_FALSE(in_doubt(guess, f));
  looks_taken looked;
  EXPECT_TRUE(looked.take(guess));
  EXPECT_FALSE(looked.take(guess));
  guess.iterations = 5;
  EXPECT_TRUE(looked.take(guess)); // with more at stake
  EXPECT_FALSE(looked.take(guess));
  EXPECT_TRUE(looked.take(guess, true)); // however little others left unclear
  EXPECT_FALSE(looked.take(guess, true));
}

/// No flow through the border, and `more` beside: of 4,900 rows, whose factors take more than a guess is worth.
coo<double> closed_grid(double more) {
  auto a = kit::laplacian(70, 70);
  host_array<double> sums(a.shape.rows, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) sums[a.row[k]] += a.val[k];
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] += more - sums[a.row[k]];
  return a;
}

TEST(each_answer, that_was_the_first_guess_is_held_against_another) {
  for (const double more : {1e-9, 1.0}) {
    const auto a = closed_grid(more);
    const auto expected = kit::random_vector<double>(a.shape.rows, 1);
    auto guess = expected;
    for (double& g : guess) g += more < 1 ? 1.0 : 1e-9;
    const auto s = kit::solve_honestly(a, kit::times(a, expected), {}, guess);
    ASSERT_EQ(s.report.iterations, 0);
    EXPECT_EQ(s.report.warning.empty(), more == 1.0) << s.report.error_estimate;
    if (more == 1.0) {
      EXPECT_LT(s.report.error_estimate, 1e-3);
      EXPECT_GT(s.report.error_estimate, 0);
    }
  }
}

/// The next method would find that x meets the goal, and say that it has converged in no iteration.
TEST(each_answer, is_solved_for_anew_where_one_on_trial_may_be_off) {
  const auto a = far_from_normal(1);
  const auto b = kit::times(a, ones(9));
  const auto s = kit::solve_honestly(a, b);
  ASSERT_GE(s.report.rungs.size(), 2u);
  EXPECT_TRUE(mentions(s.report.rungs[0].outcome, "x may be off")) << s.report.rungs[0].outcome;
  EXPECT_EQ(s.report.solver, "direct");
  EXPECT_GT(s.report.iterations, 0);
  EXPECT_LT(apart(as_cview(s.x), ones(9)), 1e-3);
  EXPECT_EQ(s.report.warning, "");
}

/// Two rows of a thousand, by themselves, that add up to zero: cg never meets them.
TEST(each_answer, is_one_of_many_where_a_part_of_the_matrix_is_singular) {
  const auto a = kit::from_function(300, [](index_t i, index_t j) {
    if (i >= 298 || j >= 298) return i < 298 || j < 298 ? 0.0 : i == j ? 2.0 : -2.0;
    return i == j ? 2.5 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const auto s = kit::solve_honestly(a, kit::times(a, ones(300)));
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_TRUE(mentions(s.report.warning, "x is one of many")) << s.report.solver << ": " << s.report.warning;
}

/// From another start the method gets nowhere, and its own estimate of the error is 1e-13.
TEST(each_answer, has_no_estimate_of_the_method_where_another_start_tells_nothing) {
  const auto a = far_from_normal(444);
  const auto b = kit::times(a, ones(a.shape.rows));
  const auto first = kit::solve_honestly(a, b);
  EXPECT_LT(apart(as_cview(first.x), ones(a.shape.rows)), 1e-3) << first.report.solver;
  solve_options o;
  o.precond = "jacobi";
  const auto s = kit::solve_honestly(a, b, o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(apart(as_cview(s.x), ones(a.shape.rows)), 0.1);
  EXPECT_GT(s.report.error_estimate, 0.1);
  EXPECT_TRUE(mentions(s.report.warning, "as complete factors of the matrix say")) << s.report.warning;
}

} // namespace
} // namespace furrow
