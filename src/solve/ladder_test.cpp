// SPDX-License-Identifier: BSD-3-Clause
#include "solve_test_kit.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

using namespace solve_test;

TEST(ladder, takes_cg_where_it_will_do) {
  const auto a = kit::laplacian(20, 20);
  const auto s = kit::solve_honestly(a, kit::times(a, ones(400)), by_auto(1e-10));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "cg");
  EXPECT_EQ(s.report.precond, "jacobi");
  ASSERT_EQ(s.report.rungs.size(), 1u);
  EXPECT_EQ(s.report.rungs[0].iterations, s.report.iterations);
}

TEST(ladder, solves_what_cg_cannot) {
  for (const char* spec : {"convection2d:20:30", "convection2d:50:1"}) {
    const auto a = generate(spec).a;
    const auto s = kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), by_auto(1e-10));
    EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
    EXPECT_NE(s.report.solver, "cg") << spec;
  }
}

TEST(ladder, negates_a_negative_definite_matrix) {
  auto a = kit::laplacian(15, 15);
  for (double& v : a.val) v = -v;
  const auto s = kit::solve_honestly(a, kit::times(a, ones(225)), by_auto(1e-10));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "cg");
  for (const double v : s.x) EXPECT_NEAR(v, 1, 1e-7);
}

TEST(ladder, solves_finite_matrices_whose_sums_are_beyond_all_numbers) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1e308}, {0, 1, 1e308}, {1, 0, 1e308}, {1, 1, -1e308}});
  const auto general = kit::assemble({2, 2}, {{0, 0, 1e308}, {0, 1, 1e308}, {1, 1, 1}});
  for (const auto* one : {&a, &general}) {
    const auto s = kit::solve_honestly(*one, host_array<double>{1e308, 1}, by_auto(1e-10));
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  }
}

TEST(ladder, goes_on_where_a_matrix_proves_indefinite) {
  auto a = kit::laplacian(12, 12); // eigenvalues from 0.1 to 7.9, shifted through zero
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 1.03;
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(144, 3), by_auto(1e-8));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  ASSERT_GE(s.report.rungs.size(), 2u);
  EXPECT_EQ(s.report.rungs[0].why, status::not_positive_definite);
  EXPECT_FALSE(s.report.rungs[0].outcome.empty());
}

#if FURROW_HAS_SUPERLU
/// How often a ladder came to complete factors.
index_t times_factored(const solve_report& r) {
  return std::ranges::count(r.rungs, std::string("direct"), &solve_rung::solver);
}

TEST(ladder, has_complete_factors_before_restarts_where_they_take_few_operations) {
  const auto a = shifted_grid(0.5);
  const auto s = kit::solve_honestly(a, ones(a.shape.rows), by_auto(1e-8));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "direct");
  for (const solve_rung& r : s.report.rungs) EXPECT_NE(r.solver, "gmres:50");
}

/// lambda of the eigenvector sin(pi k / 91) sin(pi l / 91), which b is not orthogonal to: there is no answer.
/// Blocks of ten rows without order, and entries above them, in an order of their own of rows and of columns: no
/// incomplete factors are near an inverse, and others fill in.
TEST(ladder, finds_diagonal_blocks_that_nobody_sees) {
  constexpr index_t n = 4000;
  const auto values = kit::random_vector<double>(14 * n, 3);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < 14; ++k) {
      const index_t far = i + 10 + (i * 37 + k * 911) % n, j = k < 10 ? i / 10 * 10 + k : far / 10 * 10 + k;
      if (j < n) entries.push_back({i * 1237 % n, j * 2411 % n, values[14 * i + k]});
    }
  const auto a = kit::assemble({n, n}, std::move(entries));
  const auto s = kit::solve_honestly(a, kit::times(a, ones(n)), by_auto(1e-10));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "direct");
  EXPECT_EQ(s.report.rungs.size(), 1u);
  EXPECT_NE(s.report.matrix_about.find("400 diagonal blocks, the largest of 10 rows"), std::string::npos)
      << s.report.matrix_about;
}

TEST(ladder, believes_factors_in_whose_solutions_no_digit_is_right) {
  const auto a = shifted_grid(8 * std::pow(std::sin(std::acos(-1.0) / 182), 2));
  const auto s = kit::solve_honestly(a, ones(a.shape.rows), by_auto(1e-8));
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_EQ(times_factored(s.report), 1);
  EXPECT_EQ(s.report.rungs.back().solver, "lsmr");
}

/// A grid between whose cells coefficients differ by up to 1e12: rounding of A x alone is above the goal.
TEST(ladder, ends_where_rounding_lets_no_method_get_further) {
  auto a = kit::laplacian(90, 90);
  std::vector<double> row_sums(90 * 90, 1e-3);
  const auto r = kit::random_vector<double>(90 * 90, 6);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k]) {
      const double c = std::pow(10.0, 6 * (1 + std::min(r[a.row[k]], r[a.col[k]])));
      a.val[k] = -c, row_sums[std::size_t(a.row[k])] += c;
    }
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] = row_sums[std::size_t(a.row[k])];
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), by_auto(1e-14));
  EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
  EXPECT_TRUE(s.report.message.find("rounding limits this matrix") != std::string::npos) << s.report.message;
  EXPECT_EQ(s.report.rungs.back().solver, "direct");
  EXPECT_EQ(times_factored(s.report), 1);
  EXPECT_FALSE(s.report.untried.empty());
}
#endif

TEST(ladder, never_hands_back_an_x_that_is_worse_than_the_first_guess) {
  const coo<double> a{{3, 3}, {0, 0, 1, 2}, {0, 1, 1, 0}, {1, 2, 3, 4}}; // its last column is empty
  const host_array<double> b{1, 1, 1};
  const auto s = kit::solve_honestly(a, b, by_auto(1e-10));
  EXPECT_NE(s.report.why, status::converged);
  EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
}

TEST(ladder, has_the_same_bits_for_every_number_of_threads) {
  const auto a = generate("convection2d:70:50").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 9);
  host_array<double> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    auto s = kit::solve_honestly(a, b, by_auto(1e-6));
    if (count == 1) first = std::move(s.x);
    else EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(s.x)));
  }
  set_threads(0);
}

TEST(ladder, begins_where_the_last_answer_came_from) {
  auto a = kit::laplacian(12, 12);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 1.03;
  solver<double> kept(a, by_auto(1e-8));
  const auto b = kit::random_vector<double>(144, 3);
  host_array<double> x(144, 0.0), again(144, 0.0);
  const auto one = kept.solve(as_cview(b), as_view(x)), two = kept.solve(as_cview(b), as_view(again));
  EXPECT_GT(one.rungs.size(), 1u);
  EXPECT_EQ(two.rungs.size(), 1u);
  EXPECT_EQ(two.solver, one.solver);
  EXPECT_EQ(two.rungs[0].setup_seconds, 0);
  EXPECT_EQ(two.why, status::converged);
}

TEST(ladder, takes_the_preconditioner_that_was_asked_for) {
  auto o = by_auto(1e-10);
  o.precond = "none";
  const auto a = kit::laplacian(10, 10);
  EXPECT_EQ(kit::solve_honestly(a, ones(100), o).report.precond, "none");
  o.precond = "jacobi:7";
  EXPECT_THROW(kit::solve_honestly(a, ones(100), o), error);
}

TEST(ladder, solves_in_single_precision) {
  const auto a = generate("convection2d:20:30").a;
  auto o = by_auto(1e-4);
  o.values = precision::f32;
  host_array<double> x(400, 0.0);
  const auto report = solve(a, as_cview(kit::times(a, ones(400))), as_view(x), o);
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_FALSE(report.rungs.empty());
}

TEST(ladder, gives_singular_systems_without_an_answer_the_nearest_x) {
  for (const index_t n : {20, 60}) {                 // few rows, and more
    const auto a = kit::laplacian(n, n, 1, true, 0); // its null vector is constant
    auto b = kit::random_vector<double>(n * n, 5);
    for (double& v : b) v += 0.5;
    const auto s = kit::solve_honestly(a, b, by_auto(1e-8));
    EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
    EXPECT_TRUE(mentions(s.report.message, "not in the range")) << s.report.message;
    double mean = 0, squares = 0;
    for (const double v : b) mean += v / double(n * n), squares += v * v;
    EXPECT_NEAR(s.report.relative_residual, std::abs(mean) * double(n) / std::sqrt(squares), 1e-9);
    for (double& v : b) v -= mean;
    EXPECT_EQ(kit::solve_honestly(a, b, by_auto(1e-8)).report.why, status::converged);
  }
}

TEST(ladder, solves_singular_systems_whose_last_pivot_is_exactly_zero) {
  const index_t n = 1000; // a path, and a chain of births and deaths: no factors, and the square of their steps is many
  for (const double up : {1.0, 0.5}) {
    const auto a = kit::from_function(n, [=](index_t i, index_t j) {
      const double left = i > 0 ? 1.0 : 0.0, right = i + 1 < n ? up : 0.0;
      return i == j ? left + right : j + 1 == i ? -left : j == i + 1 ? -right : 0.0;
    });
    const auto s = kit::solve_honestly(a, kit::times(a, kit::random_vector<double>(n, 6)), by_auto(1e-8));
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_TRUE(mentions(s.report.warning, "one of many")) << s.report.warning;
  }
}

TEST(ladder, tells_of_the_x_that_it_hands_back) {
  const index_t n = 40; // singular values from 1 to 1e-16 between two reflections, and a b that no x reaches
  const auto u = kit::random_vector<double>(n, 1), v = kit::random_vector<double>(n, 2);
  double uu = 0, vv = 0, across = 0;
  const auto value = [=](index_t i) { return std::pow(10.0, -16.0 * double(i) / double(n - 1)); };
  for (index_t i = 0; i < n; ++i) uu += u[i] * u[i], vv += v[i] * v[i], across += u[i] * value(i) * v[i];
  const auto a = kit::from_function(n, [&](index_t i, index_t j) {
    const double turned = -2 * u[i] * u[j] * value(j) / uu - 2 * value(i) * v[i] * v[j] / vv;
    return (i == j ? value(i) : 0) + turned + 4 * u[i] * across * v[j] / (uu * vv);
  });
  const auto b = kit::random_vector<double>(n, 3);
  const auto s = kit::solve_honestly(a, b, by_auto(1e-8));
  const auto image = kit::times(a, s.x);
  std::vector<double> normal(n, 0.0);
  double squares = 0, of_normal = 0, of_b = 0;
  for (index_t k = 0; k < a.nnz(); ++k) normal[a.col[k]] += a.val[k] * (b[a.row[k]] - image[a.row[k]]);
  for (index_t i = 0; i < n; ++i) {
    squares += (b[i] - image[i]) * (b[i] - image[i]), of_b += b[i] * b[i], of_normal += normal[i] * normal[i];
  }
  EXPECT_NEAR(s.report.relative_residual, std::sqrt(squares / of_b), 1e-3 * s.report.relative_residual);
  if (!std::isnan(s.report.normal_residual)) {
    EXPECT_LT(std::sqrt(of_normal / squares) / 50, s.report.normal_residual); // |A| is 1 to 50
  }
  for (const solve_rung& r : s.report.rungs) {
    if (r.iterations > 0) {
      EXPECT_LE(s.report.relative_residual, 1.001 * r.relative_residual) << r.solver;
    }
  }
}

TEST(ladder, says_of_an_x_that_is_one_of_many_that_it_is) {
  const auto made_of = [](index_t twin) { // row 3 is the same as the other one
    return kit::from_function(40, [=](index_t i, index_t j) {
      const index_t row = i == 3 ? twin : i;
      return row == j ? 2.0 : j == (row + 1) % 40 ? 1.0 : 0.0;
    });
  };
  const auto a = made_of(7);
  const auto b = kit::times(a, ones(40));
  solver<double> kept(a, by_auto(1e-8));
  for (int k = 0; k < 2; ++k) { // and of the next right-hand side, which begins with the method that answered
    host_array<double> x(40, 0.0);
    const auto report = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_NE(report.solver, "direct");
    EXPECT_TRUE(mentions(report.warning, "singular")) << report.warning;
    EXPECT_TRUE(mentions(report.warning, "direct with lu")) << report.warning;
    EXPECT_TRUE(mentions(report.warning, "one of many")) << report.warning;
  }
  EXPECT_EQ(kit::solve_honestly(made_of(3), b, by_auto(1e-8)).report.warning, "");
}

TEST(ladder, takes_least_squares_where_sides_differ) {
  for (const char* spec : {"rectangular:300:100:4", "rectangular:100:300:4"}) {
    const auto a = generate(spec).a;
    const host_array<double> zero(a.shape.cols, 0.0);
    const auto in_range = kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), by_auto(1e-10), zero);
    EXPECT_EQ(in_range.report.why, status::converged) << spec << ": " << in_range.report.message;
    EXPECT_EQ(in_range.report.solver, "lsmr");
    auto unasked = by_auto(1e-10);
    unasked.assume_symmetric = true;
    EXPECT_EQ(kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), unasked, zero).report.why, status::converged);
    const auto any = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 2), by_auto(1e-10), zero);
    EXPECT_EQ(any.report.why, a.shape.rows > a.shape.cols ? status::least_squares : status::converged)
        << spec << ": " << any.report.message;
  }
}

TEST(ladder, leaves_an_answer_on_trial_that_may_be_off) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 2}, {1, 1, 2}});
  host_array<double> b(2, 1.0);
  b[1] = 2;
  const auto s = kit::solve_honestly(a, b, by_auto(1e-10));
  ASSERT_GE(s.report.rungs.size(), 2u);
  EXPECT_EQ(s.report.rungs[0].solver, "bicgstab");
  EXPECT_TRUE(mentions(s.report.rungs[0].outcome, "; the matrix is singular to working precision"))
      << s.report.rungs[0].outcome;
  EXPECT_EQ(s.report.rungs[1].solver, "direct");
  EXPECT_TRUE(mentions(s.report.warning, "singular to working precision")) << s.report.warning;
  EXPECT_EQ(s.report.why, status::converged);
  auto o = by_auto(1e-10);
  o.max_iterations = 1; // which it takes: nothing may follow
  const auto limited = kit::solve_honestly(a, b, o).report;
  EXPECT_EQ(limited.rungs.size(), 1u);
  EXPECT_EQ(limited.why, status::converged);
  EXPECT_EQ(limited.warning, "the matrix is singular to working precision, as a complete factorisation found: x is one "
                             "of many that fit b as well");
}

TEST(ladder, takes_a_method_that_can_have_the_named_preconditioner) {
  auto definite = generate("poisson2d:20").a, indefinite = definite;
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == indefinite.col[k] && indefinite.row[k] % 3 == 0) indefinite.val[k] = -4;
  for (auto* a : {&definite, &indefinite})
    for (const char* precond : {"ilu", "ilut", "block_jacobi:2", "chebyshev"}) {
      solve_options o;
      o.precond = precond;
      const auto s = kit::solve_honestly<double>(*a, kit::random_vector<double>(400, 7), o);
      EXPECT_EQ(s.report.why, status::converged) << precond << ": " << s.report.message;
      EXPECT_EQ(s.report.precond, precond);
    }
}

TEST(ladder, ends_singular_systems_with_least_squares_by_a_named_preconditioner_too) {
  auto a = kit::laplacian(30, 1, 1, true, 0); // pure Neumann, scaled: 1, 1/2, 1, 1/2, ... is mapped to zero
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= double((1 + a.row[k] % 2) * (1 + a.col[k] % 2));
  auto b = kit::random_vector<double>(30, 7);
  for (double& v : b) v += 1;
  for (const char* precond : {"none", "jacobi"}) {
    solve_options o;
    o.precond = precond;
    const auto s = kit::solve_honestly<double>(a, b, o);
    EXPECT_EQ(s.report.why, status::least_squares) << precond << ": " << s.report.message;
    EXPECT_EQ(s.report.solver, "lsmr");
    EXPECT_EQ(s.report.precond, precond);
  }
}

} // namespace
} // namespace furrow
