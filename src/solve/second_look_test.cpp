// SPDX-License-Identifier: BSD-3-Clause
#include "second_look.hpp"
#include "solve_test_kit.hpp"

#include "kit/hilbert.hpp"
#include "preconditioners/lu/inverse.hpp"

#include <furrow/solver.hpp>

#include <cmath>

namespace furrow {
namespace {

using namespace solve_test;

/// 1 on the diagonal, and `last` at its end.
coo<double> diagonal_ending_with(index_t n, double last) {
  return kit::from_function(n, [=](index_t i, index_t j) { return i != j ? 0.0 : i == n - 1 ? last : 1.0; });
}

/// Three diagonals that take some hundred steps, not symmetric, and two equations more that only a difference of 1e-10
/// tells apart, where there are `twins`.
coo<double> slow_system(index_t n, bool twins) {
  const index_t nnz = 3 * n - 2 + (twins ? 4 : 0), rows = n + (twins ? 2 : 0);
  coo<double> a{{rows, rows}, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<double>(nnz)};
  index_t k = 0;
  const auto put = [&](index_t i, index_t j, double v) {
    a.row[k] = std::int32_t(i), a.col[k] = std::int32_t(j), a.val[k++] = v;
  };
  for (index_t i = 0; i < n; ++i) {
    if (i > 0) put(i, i - 1, -1.001);
    put(i, i, 2.0004);
    if (i + 1 < n) put(i, i + 1, -0.999);
  }
  for (index_t e = 0; twins && e < 4; ++e) put(n + e / 2, n + e % 2, e == 0 ? 1 : e == 3 ? 4 + 1e-10 : 2);
  return a;
}

TEST(second_look, finds_the_error_that_a_small_residual_hides) {
  const index_t n = 100;
  const auto a = diagonal_ending_with(n, 1e-6);
  const auto b = kit::times(a, ones(n));
  host_array<double> x(n, 1.0);
  x[n - 1] = 0.5; // b - A x = 5e-7 in the last row
  const double relative = 5e-7 / std::sqrt(double(n - 1));
  const auto facts = look_by_factors(a, as_cview(b), as_cview(x), 1e9, relative);
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->singular);
  EXPECT_NEAR(facts->condition, 1e6, 1);
  EXPECT_LT(facts->by_rounding, 1e-15); // each row is one unknown
  solve_report report;
  report.why = status::converged, report.relative_residual = relative, report.warning = "of the method";
  put_into(report, *facts);
  EXPECT_NEAR(report.error_estimate, 0.5, 1e-6);
  EXPECT_TRUE(mentions(report.warning, "50 %")) << report.warning;
  EXPECT_TRUE(mentions(report.warning, "a tolerance of 5e-10 should")) << report.warning; // 1 % of what it was, halved
  report.relative_residual *= 1e-3;
  put_into(report, *facts);
  EXPECT_NEAR(report.error_estimate, 5e-4, 1e-8);
  EXPECT_EQ(report.warning, "");
}

TEST(second_look, says_where_rounding_alone_makes_x_worthless) {
  const auto a = kit::from_function(2, [](index_t i, index_t j) { return i + j < 2 ? 1.0 : 1 + 1e-15; });
  const auto b = kit::times(a, ones(2));
  const auto x = ones(2);
  const auto facts = look_by_factors(a, as_cview(b), as_cview(x), 1e9, 1e-16);
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->by_rounding, 0.01);
  solve_report report;
  report.relative_residual = 1e-16;
  put_into(report, *facts);
  EXPECT_TRUE(mentions(report.warning, "rounding of its entries")) << report.warning;
}

TEST(second_look, ends_at_its_operations_and_knows_singular_matrices) {
  const auto a = kit::laplacian(60, 60);
  const auto b = ones(3600);
  EXPECT_FALSE(look_by_factors(a, as_cview(b), as_cview(b), 1e4, 1e-8));
  EXPECT_TRUE(look_by_factors(a, as_cview(b), as_cview(b), 1e9, 1e-8));
  const auto singular = diagonal_ending_with(10, 0);
  const auto ten = ones(10);
  const auto facts = look_by_factors(singular, as_cview(ten), as_cview(ten), 1e9, 1e-8);
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->singular);
}

TEST(second_look, is_worth_no_more_than_the_answer) {
  features f;
  f.rows = 10000, f.nnz = 50000, f.longest_row = 5;
  solve_report r;
  r.solver = "bicgstab", r.iterations = 20;
  EXPECT_TRUE(in_doubt(r, f));
  EXPECT_EQ(operations_worth(r, f, {5e8, false}), 0); // an ordering alone would take longer
  const double on_cpu = operations_worth(r, f, {1e10, false});
  EXPECT_GT(on_cpu, 1e9);
  EXPECT_LT(on_cpu, 1.4e9);
  EXPECT_LT(operations_worth(r, f, {1e10, true}), 0.05 * on_cpu);
  work_done w;
  r.bytes_per_iteration = 1e6, r.precond = "jacobi";
  w.add(r, f);
  EXPECT_EQ(w.bytes, 20e6);
  r.precond = "ilu";
  w.add(r, f);
  EXPECT_EQ(w.bytes, 40e6 + 4000.0 * 50000); // and its set-up
  EXPECT_EQ(w.stored, 1);
  EXPECT_GT(operations_worth(r, f, {1e10, false, 2}), 1.5 * on_cpu);
  f.nnz = 1000000;
  EXPECT_EQ(operations_worth(r, f, {1e12, false}), 0);
  f.nnz = 50000, f.longest_row = 10000;
  EXPECT_EQ(operations_worth(r, f, {1e12, false}), 0);
  f.rows = 500, f.nnz = 250000, f.longest_row = 500; // every place is full: no order is looked for
  EXPECT_GT(operations_worth(r, f, {1e6, false}), 2.0 / 3 * 500 * 500 * 500);
}

TEST(second_look, doubts_a_condition_number_only_where_rows_of_other_sizes_hide_errors) {
  features f;
  f.rows = 5000, f.nnz = 20000, f.longest_row = 5;
  solve_report r;
  r.solver = "cg", r.iterations = 20, r.condition_estimate = 100, r.error_estimate = 1e-5;
  EXPECT_TRUE(in_doubt(r, f)); // b may hide more, and a look takes little
  r.condition_estimate = 1e6;
  EXPECT_FALSE(in_doubt(r, f));
  f.scales = 1e12;
  EXPECT_TRUE(in_doubt(r, f));
  EXPECT_GT(operations_worth(r, f, {1e6, false}), 1e7);
  r.warning = "said already", r.error_estimate = 1.5;
  EXPECT_FALSE(in_doubt(r, f)); // nothing worse can be said
  r.error_estimate = 0.03;      // a Ritz value stands above the eigenvalue that it approaches
  EXPECT_TRUE(in_doubt(r, f));
  r.warning.clear(), r.error_estimate = 1e-3, f.scales = 1;
  EXPECT_FALSE(in_doubt(r, f));
  f.rows = 2000;
  EXPECT_TRUE(in_doubt(r, f)); // few rows take no longer than a few hundred iterations
  EXPECT_GT(operations_worth(r, f, {1e6, false}), 1e7);
  r.error_estimate = 1e-5;
  EXPECT_FALSE(in_doubt(r, f));
  f.rows = 200;
  EXPECT_TRUE(in_doubt(r, f)); // they are there at once
  r.solver = "direct", r.warning.clear();
  EXPECT_FALSE(in_doubt(r, f));
  r.iterations = 0, r.relative_residual = 1e-9; // a first guess, from which factors made a step to tell
  EXPECT_FALSE(in_doubt(r, f));
  r.condition_estimate = 0; // or another preconditioner, which tells nothing
  EXPECT_TRUE(in_doubt(r, f));
}

/// The grid less twice its smallest eigenvalue but for 1e-9 of it, of which b of ones shows conjugate gradients little.
TEST(second_look, believes_factors_of_a_first_guess) {
  const index_t n = 50;
  auto a = kit::laplacian(n, n);
  const double least = 8 * std::pow(std::sin(std::acos(-1.0) / (2 * double(n + 1))), 2);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= least * (1 - 1e-9);
  solver<double> kept(a, {});
  const auto solve_to = [&](const host_array<double>& right, host_array<double> x) {
    const auto b = kit::times(a, right);
    return kept.solve(as_cview(b), as_view(x));
  };
  const auto first = solve_to(ones(n * n), host_array<double>(n * n, 0.0));
  EXPECT_EQ(first.solver, "cg");
  EXPECT_GT(first.error_estimate, 0.1);
  const auto right = kit::random_vector<double>(n * n, 3);
  EXPECT_EQ(solve_to(right, host_array<double>(n * n, 0.0)).solver, "direct");
  const auto guessed = solve_to(right, right);
  EXPECT_EQ(guessed.iterations, 0);
  EXPECT_LT(guessed.error_estimate, 1e-2);
  EXPECT_EQ(guessed.warning, "");
}

TEST(second_look, finds_what_conjugate_gradients_have_not_seen) {
  int wrong = 0;
  for (index_t n = 4; n <= 10; ++n) {
    SCOPED_TRACE(n);
    const auto a = kit::hilbert(n);
    host_array<double> expected(n);
    for (index_t i = 0; i < n; ++i) expected[i] = i % 2 == 0 ? -1 : 1; // full of what A makes small
    const auto s = kit::solve_honestly(a, kit::times(a, expected), solve_options{});
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    double off = 0, size = 0;
    for (index_t i = 0; i < n; ++i) {
      off = std::max(off, std::abs(s.x[i] - expected[i])), size = std::max(size, std::abs(s.x[i]));
    }
    off /= size;
    EXPECT_GT(s.report.error_estimate, off / 3);
    EXPECT_EQ(s.report.warning.empty(), s.report.error_estimate <= 0.01) << s.report.warning;
    if (s.report.error_estimate > 0.1) {
      EXPECT_TRUE(mentions(s.report.warning, "as complete factors of the matrix say")) << s.report.warning;
    }
    wrong += off > 0.1;
  }
  EXPECT_GT(wrong, 2);
}

TEST(second_look, believes_no_few_steps_of_few_rows) {
  const index_t n = 12; // b hardly shows the small eigenvalues
  const auto s = kit::solve_honestly(kit::hilbert(n), ones(n), solve_options{});
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.condition_estimate, 1e15);
  EXPECT_TRUE(mentions(s.report.warning, "condition number")) << s.report.warning;
}

TEST(second_look, warns_of_rows_that_add_up_to_zero) {
  const index_t n = 60;
  const auto a = kit::laplacian(n, n, 1, true, 0);
  const auto b = kit::times(a, kit::random_vector<double>(n * n, 3));
  for (const double by : {1.0, 1e-30}) {
    auto scaled = a;
    auto right = b;
    for (double& v : scaled.val) v *= by;
    for (double& v : right) v *= by;
    const auto s = kit::solve_honestly(scaled, right, solve_options{});
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_TRUE(mentions(s.report.warning, "adds up to zero")) << s.report.warning;
    EXPECT_TRUE(mentions(s.report.warning, "one of many")) << s.report.warning;
    EXPECT_EQ(s.report.error_estimate, 0); // of which of them?
  }
  const auto grounded = kit::solve_honestly(kit::laplacian(n, n, 1, true, 1e-6), b, solve_options{});
  EXPECT_FALSE(mentions(grounded.report.warning, "adds up")) << grounded.report.warning;
}

TEST(second_look, adds_rows_up_where_they_are_of_very_different_sizes) {
  const auto a = kit::from_function(2, [](index_t i, index_t j) { return i == 0 ? j == 0 ? 1e20 : -1e20 : 1.0; });
  const stats s = measure(a);
  const auto op = make(choose(s, precision::f64, device{}), device{}, coo<double>(a));
  EXPECT_EQ(largest_row_sum(*op), 2);
  const features f = features_of(a, s, false);
  const auto each_row = [&] { return each_row_adds_up_to_zero(a); };
  EXPECT_FALSE(adds_up_to_zero<double>(2, s.norm_inf, f, each_row));
  EXPECT_FALSE(adds_up_to_zero<double>(inf, inf, f, each_row)); // of entries of 1e308
}

/// A graph whose weights span six decades: what rounding leaves of the large rows is as large as whole small ones.
TEST(second_look, adds_up_each_row_of_a_weighted_graph) {
  const index_t n = 5000;
  auto graph = [&](double boundary) {
    const auto size = kit::random_vector<double>(n, 12);
    std::vector<kit::triplet> entries;
    std::vector<double> sum(n, 0);
    for (index_t i = 0; i < n; ++i)
      for (const index_t j : {(i + 1) % n, (i * 7 + 3) % n}) {
        if (i == j) continue;
        const double weight = std::pow(10.0, 3 * size[i]);
        for (const auto& [k, l] : {std::pair(i, j), std::pair(j, i)}) {
          entries.push_back({k, l, -weight});
          sum[std::size_t(k)] += weight;
        }
      }
    for (index_t i = 0; i < n; ++i) entries.push_back({i, i, sum[std::size_t(i)] + (i == 0 ? boundary : 0)});
    return kit::assemble({n, n}, entries);
  };
  const auto expected = kit::random_vector<double>(n, 3);
  for (const double boundary : {0.0, 10.0}) {
    const auto a = graph(boundary);
    const auto s = kit::solve_honestly(a, kit::times(a, expected), solve_options{});
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_EQ(mentions(s.report.warning, "adds up to zero"), boundary == 0) << s.report.warning;
  }
}

/// Edges of a grid of cells: loops around the cells, and next to nothing for the gradients, of which b holds as much.
TEST(second_look, finds_what_few_steps_of_conjugate_gradients_pass_by) {
  const index_t cells = 60, wide = cells + 1, across = cells * wide, edges = 2 * across;
  const auto with_mass = [&](double mass) {
    std::vector<kit::triplet> entries;
    for (index_t y = 0; y < cells; ++y)
      for (index_t x = 0; x < cells; ++x) {
        const std::pair<index_t, double> loop[] = {{y * cells + x, 1.0},
                                                   {across + y * wide + x + 1, 1.0},
                                                   {(y + 1) * cells + x, -1.0},
                                                   {across + y * wide + x, -1.0}};
        for (const auto& [i, u] : loop)
          for (const auto& [j, v] : loop) entries.push_back({i, j, u * v});
      }
    for (index_t i = 0; i < edges; ++i) entries.push_back({i, i, mass});
    return kit::assemble({edges, edges}, entries);
  };
  const auto expected = kit::random_vector<double>(edges, 5);
  for (const double mass : {1e-8, 1.0}) {
    const auto a = with_mass(mass);
    const auto s = kit::solve_honestly(a, kit::times(a, expected), solve_options{});
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    ASSERT_EQ(s.report.solver, "cg");
    double off = 0;
    for (index_t i = 0; i < edges; ++i) off = std::max(off, std::abs(s.x[i] - expected[i]));
    EXPECT_EQ(off > 0.1, mass < 1) << off;
    EXPECT_EQ(mentions(s.report.warning, "another first guess"), mass < 1) << s.report.warning;
    EXPECT_EQ(s.report.error_estimate > 0.1, mass < 1) << s.report.error_estimate;
  }
}

/// Elements that penalties tie together: the residual is that of the ties, and the rest of x is anything. Of so many
/// entries nobody makes complete factors for an estimate.
TEST(second_look, believes_no_small_residual_beside_penalties) {
  const index_t wide = 250, n = wide * wide;
  const auto grid = kit::laplacian(wide, wide);
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < grid.nnz(); ++k) entries.push_back({grid.row[k], grid.col[k], grid.val[k]});
  for (index_t k = 0; k < 300; ++k) {
    const index_t i = k * 199 % n, j = (k * 331 + 17) % n;
    for (const auto& [row, col, sign] : {kit::triplet{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}})
      entries.push_back({row, col, sign * 1e12});
  }
  const auto a = kit::assemble({n, n}, entries);
  const auto expected = kit::random_vector<double>(n, 7);
  const auto s = kit::solve_honestly(a, kit::times(a, expected), solve_options{});
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  double off = 0;
  for (index_t i = 0; i < n; ++i) off = std::max(off, std::abs(s.x[i] - expected[i]));
  EXPECT_GT(off, 0.1);
  EXPECT_TRUE(mentions(s.report.warning, "the residual is small, but")) << s.report.error_estimate;
}

TEST(second_look, calls_no_matrix_singular_whose_pivots_grow) {
  const index_t n = 200; // J. H. Wilkinson's: the last column doubles from row to row, and the condition number is 90
  const auto a = kit::from_function(n, [=](index_t i, index_t j) {
    return i == j || j == n - 1 ? 1.0 : i > j ? -1.0 : 0.0;
  });
  EXPECT_LT(lu::inverse<double>(a, "dense").condition().norm_1, 1e4);
  const auto s = kit::solve_honestly(a, kit::times(a, kit::random_vector<double>(n, 4)), solve_options{});
  EXPECT_FALSE(mentions(s.report.warning, "singular")) << s.report.warning;
}

TEST(second_look, warns_in_the_ladder_of_what_no_residual_shows) {
  const index_t n = 4002;
  const auto a = slow_system(n - 2, true);
  host_array<double> expected = kit::random_vector<double>(n, 6);
  expected[n - 2] = 2, expected[n - 1] = -1; // b of the last two rows is 0 and -1e-10
  const auto b = kit::times(a, expected);
  solve_options o;
  o.rtol = 1e-10, o.precond = "none";
  solver<double> kept(a, o);
  for (int k = 0; k < 2; ++k) { // a second right-hand side is not factored for again
    host_array<double> x(n, 0.0);
    const auto report = kept.solve(as_cview(b), as_view(x));
    ASSERT_EQ(report.why, status::converged) << report.message;
    ASSERT_EQ(report.solver, "bicgstab");
    EXPECT_GT(std::abs(x[n - 1] - expected[n - 1]), 0.1);
    EXPECT_GT(report.error_estimate, 0.1);
    EXPECT_TRUE(mentions(report.warning, "another first guess")) << report.warning;
  }
}

/// Two chains of which b hardly shows the longer one.
TEST(second_look, warns_in_the_ladder_of_each_of_several_columns) {
  const index_t few = 400, n = 4000;
  const auto a = kit::from_function(n, [=](index_t i, index_t j) {
    const double size = i < few ? 1 : 1e-9;
    return (i < few) != (j < few) ? 0.0 : i == j ? 2 * size : i == j + 1 || j == i + 1 ? -size : 0.0;
  });
  const host_array<double> expected = kit::random_vector<double>(3 * n, 8);
  host_array<double> b(3 * n), x(3 * n, 0.0);
  for (index_t c = 0; c < 3; ++c) {
    host_array<double> one(n);
    std::copy_n(expected.data() + c * n, n, one.data());
    const auto product = kit::times(a, one);
    std::copy_n(product.begin(), n, b.data() + c * n);
  }
  solve_options o;
  o.rtol = 1e-6, o.precond = "jacobi";
  solver<double> kept(a, o);
  const auto together = kept.solve(as_cview(b), as_view(x), 3);
  for (index_t c = 0; c < 3; ++c) {
    SCOPED_TRACE(c);
    const solve_report& report = together[static_cast<std::size_t>(c)];
    ASSERT_EQ(report.why, status::converged) << report.message;
    ASSERT_EQ(report.solver, "block_cg");
    double off = 0;
    for (index_t i = 0; i < n; ++i) off = std::max(off, std::abs(x[c * n + i] - expected[c * n + i]));
    EXPECT_GT(off, 0.1);
    EXPECT_GT(report.error_estimate, 0.1);
    EXPECT_NE(report.warning, "");
  }
}

TEST(second_look, finds_nothing_wrong_where_nothing_is) {
  const auto a = slow_system(4000, false);
  solve_options o;
  o.rtol = 1e-10, o.precond = "none";
  const auto s = kit::solve_honestly(a, kit::times(a, kit::random_vector<double>(4000, 6)), o);
  ASSERT_EQ(s.report.solver, "bicgstab");
  EXPECT_EQ(s.report.warning, "");
  EXPECT_EQ(s.report.condition_estimate, 0); // nothing is factored where the method finds back
  EXPECT_GT(s.report.error_estimate, 0);
  EXPECT_LT(s.report.error_estimate, 1e-4);
}

} // namespace
} // namespace furrow
