// SPDX-License-Identifier: BSD-3-Clause
#include "solve_test_kit.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

using namespace solve_test;

/// Two graphs of 2,500 nodes each, grids with weights from 0.01 to 100.
coo<double> two_graphs() {
  const index_t side = 50, each = side * side;
  const auto w = kit::random_vector<double>(4 * each, 3);
  std::vector<kit::triplet> entries;
  const auto join = [&](index_t i, index_t j) {
    const double weight = std::pow(10.0, 2 * w[std::ssize(entries) % w.size()]);
    for (const auto& [k, l, v] : {kit::triplet{i, i, weight}, {j, j, weight}, {i, j, -weight}, {j, i, -weight}})
      entries.push_back({k, l, v});
  };
  for (index_t g = 0; g < 2; ++g)
    for (index_t i = 0; i < each; ++i) {
      if (i % side + 1 < side) join(g * each + i, g * each + i + 1);
      if (i + side < each) join(g * each + i, g * each + i + side);
    }
  return kit::assemble({2 * each, 2 * each}, std::move(entries));
}

/// |b| over the norm of its means over both graphs.
double least_residual(const host_array<double>& b) {
  const index_t each = b.size() / 2;
  double squares = 0, of_b = 0;
  for (index_t g = 0; g < 2; ++g) {
    double sum = 0;
    for (index_t i = 0; i < each; ++i) sum += b[g * each + i], of_b += b[g * each + i] * b[g * each + i];
    squares += sum * sum / double(each);
  }
  return std::sqrt(squares / of_b);
}

bool has_rung(const solve_report& r, const char* solver) {
  return std::ranges::find(r.rungs, solver, &solve_rung::solver) != r.rungs.end();
}

TEST(ladder_range, leaves_what_no_graph_can_have_out) {
  const auto a = two_graphs();
  auto b = kit::random_vector<double>(a.shape.rows, 5);
  for (index_t i = 0; i < 100; ++i) b[i] += 3;
  const auto s = kit::solve_honestly(a, b, by_auto());
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_TRUE(mentions(s.report.message, "b is not in the range of A: x minimises |b - A x|;")) << s.report.message;
  EXPECT_TRUE(mentions(s.report.warning, "each of which adds up to zero")) << s.report.warning;
  EXPECT_TRUE(mentions(s.report.matrix_about, "is left out")) << s.report.matrix_about;
  EXPECT_LE(s.report.normal_residual, 1e-8);
  EXPECT_NEAR(s.report.relative_residual, least_residual(b), 1e-12);
  EXPECT_FALSE(has_rung(s.report, "lsmr"));
  for (double& v : b) v *= 1e200;
  EXPECT_EQ(kit::solve_honestly(a, b, by_auto()).report.why, status::least_squares);
}

/// Three grids without a boundary value, one of them held by next to nothing: rungs for definite matrices end before
/// one finds the answer.
TEST(ladder_range, goes_on_by_least_squares_where_no_rung_comes_near) {
  std::vector<kit::triplet> entries{{0, 0, 1e-11}};
  index_t first = 0;
  for (const index_t side : {60, 40, 30}) {
    const auto join = [&](index_t i, index_t j) {
      for (const auto& [k, l, v] : {kit::triplet{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}})
        entries.push_back({first + k, first + l, v});
    };
    for (index_t i = 0; i < side; ++i)
      for (index_t j = 0; j + 1 < side; ++j)
        join(i * side + j, i * side + j + 1), join(j * side + i, (j + 1) * side + i);
    first += side * side;
  }
  const auto a = kit::assemble({first, first}, std::move(entries));
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(first, 3), by_auto());
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
}

TEST(ladder_range, says_of_which_part_of_b_a_sentence_speaks) {
  const auto a = two_graphs();
  auto o = by_auto();
  o.max_iterations = 10;
  const auto r = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), o).report;
  EXPECT_EQ(r.why, status::max_iterations);
  EXPECT_TRUE(mentions(r.message, "that is of the part of b in the range of A: of all of b it is")) << r.message;
}

TEST(ladder_range, holds_far_from_one) {
  for (const double scale : {1e-200, 1e-160, 1e160, 1e200}) {
    auto a = two_graphs();
    for (double& v : a.val) v *= scale;
    const auto s = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), by_auto());
    EXPECT_EQ(s.report.why, status::least_squares) << scale << ": " << s.report.message;
  }
}

TEST(ladder_range, knows_it_for_the_right_hand_sides_that_follow) {
  const auto a = two_graphs();
  const index_t n = a.shape.rows;
  const auto outside = kit::random_vector<double>(n, 5), inside = kit::times(a, kit::random_vector<double>(n, 6));
  solver<double> kept(a, by_auto());
  for (const bool in_range : {false, true, false}) {
    host_array<double> x(n, 0.0);
    const auto r = kept.solve(as_cview(in_range ? inside : outside), as_view(x));
    EXPECT_EQ(r.why, in_range ? status::converged : status::least_squares) << r.message;
    EXPECT_EQ(mentions(r.matrix_about, "is left out"), !in_range) << r.matrix_about;
    EXPECT_TRUE(mentions(r.warning, "one of many")) << r.warning;
  }
  host_array<double> b(3 * n), x(3 * n, 0.0); // and of columns, where those in the range are solved at once
  for (index_t j = 0; j < 3; ++j) std::ranges::copy(j == 1 ? outside : inside, b.begin() + j * n);
  const auto reports = solver<double>(a, by_auto()).solve(as_cview(b), as_view(x), 3);
  ASSERT_EQ(reports.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(reports[j].why, j == 1 ? status::least_squares : status::converged) << reports[j].message;
    EXPECT_EQ(mentions(reports[j].matrix_about, "is left out"), j == 1) << reports[j].matrix_about;
  }
  EXPECT_NEAR(reports[1].relative_residual, least_residual(outside), 1e-12);
}

TEST(ladder_range, minimises_what_little_b_has_outside) {
  const auto a = two_graphs();
  const index_t n = a.shape.rows;
  auto b = kit::times(a, kit::random_vector<double>(n, 6));
  double squares = 0;
  for (const double v : b) squares += v * v;
  for (const double part : {1e-5, 1e-7}) { // by the goal, and as far as rounding of x lets it
    auto c = b;
    for (double& v : c) v += part * std::sqrt(squares / double(n));
    auto o = by_auto();
    o.rtol = part * 1e-2;
    o.history = true;
    const auto s = kit::solve_honestly(a, c, o);
    EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
    EXPECT_NEAR(s.report.relative_residual, part, 1e-3 * part);
  }
}

TEST(ladder_range, sees_the_pressure_that_nothing_holds) {
  const index_t side = 70, faces = side * (side - 1), cells = side * side; // of a flow between walls
  std::vector<kit::triplet> entries;
  const auto grid = [&](index_t first, index_t across, index_t along, index_t step, index_t row_of_cells) {
    for (index_t j = 0; j < along; ++j)
      for (index_t i = 0; i < across; ++i) {
        const index_t u = first + j * across + i;
        entries.push_back({u, u, 4});
        if (i + 1 < across) entries.push_back({u, u + 1, -1}), entries.push_back({u + 1, u, -1});
        if (j + 1 < along) entries.push_back({u, u + across, -1}), entries.push_back({u + across, u, -1});
        const index_t p = 2 * faces + j * row_of_cells + i * step;
        for (const auto& [cell, g] : {std::pair<index_t, double>{p, -1}, {p + step, 1}})
          entries.push_back({u, cell, g}), entries.push_back({cell, u, g});
      }
  };
  grid(0, side - 1, side, 1, side);
  grid(faces, side - 1, side, side, 1);
  const index_t n = 2 * faces + cells;
  const auto a = kit::assemble({n, n}, std::move(entries));
  auto b = kit::times(a, kit::random_vector<double>(n, 8));
  double squares = 0;
  for (const double v : b) squares += v * v;
  for (index_t i = 2 * faces; i < n; ++i) b[i] += 1e-4 * std::sqrt(squares / double(cells));
  const auto s = kit::solve_honestly(a, b, by_auto());
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_NEAR(s.report.relative_residual, 1e-4, 1e-8);
  EXPECT_FALSE(has_rung(s.report, "lsmr"));
}

/// Polynomials of degree 8 through points of 30 intervals.
coo<double> polynomials(index_t points) {
  const auto at = kit::random_vector<double>(points, 3);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < points; ++i)
    for (index_t k = 0; k < 9; ++k) entries.push_back({i, i % 30 * 9 + k, std::pow((1 + at[i]) / 2, double(k))});
  return kit::assemble({points, 30 * 9}, std::move(entries));
}

TEST(ladder_range, fits_by_factors_where_steps_are_too_many) {
  const auto a = polynomials(2000);
  const auto b = kit::random_vector<double>(2000, 5), zero = host_array<double>(a.shape.cols, 0.0);
  solver<double> kept(a, by_auto());
  host_array<double> x(a.shape.cols, 0.0);
  for (const std::size_t rungs : {2, 1}) { // the next one begins with the factors
    const auto r = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(r.why, status::least_squares) << r.message;
    EXPECT_TRUE(mentions(r.message, "b is not in the range of A: x minimises |b - A x|;")) << r.message;
    EXPECT_EQ(r.rungs.size(), rungs);
    EXPECT_EQ(r.solver, "direct");
    EXPECT_LE(r.normal_residual, 1e-8);
  }
  const auto in_range = kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), by_auto(1e-13), zero);
  EXPECT_EQ(in_range.report.why, status::converged) << in_range.report.message;
  auto o = by_auto();
  o.max_iterations = 100;
  const auto few = kit::solve_honestly(a, b, o, zero).report;
  EXPECT_EQ(few.why, status::max_iterations);
  EXPECT_EQ(few.rungs.size(), 1u);
}

/// Ones for all neighbours of a grid and for the diagonal: T x T of a path T with eigenvalues 1 + 2 cos(k pi / 54).
TEST(ladder_range, solves_singular_indefinite_systems_whose_b_is_in_the_range) {
  const index_t side = 53;
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < side * side; ++i)
    for (const index_t up : {-1, 0, 1})
      for (const index_t across : {-1, 0, 1})
        if (const index_t k = i / side + up, l = i % side + across; k >= 0 && l >= 0 && k < side && l < side)
          entries.push_back({i, k * side + l, 1});
  const auto a = kit::assemble({side * side, side * side}, std::move(entries));
  const auto s = kit::solve_honestly(a, kit::times(a, kit::random_vector<double>(a.shape.rows, 4)), by_auto());
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "minres");
  EXPECT_EQ(std::ranges::count(s.report.rungs, "cg", &solve_rung::solver), 1); // which showed it
}

/// Hilbert's matrix is positive definite, and multigrid for it is not, as rounding makes it.
TEST(ladder_range, calls_no_matrix_indefinite_where_rounding_spoils_a_preconditioner) {
  index_t spoilt = 0;
  for (index_t n = 13; n <= 18; ++n)
    for (const index_t row : {index_t(0), index_t(5), n - 1}) {
      host_array<double> b(n, 0.0);
      b[row] = 1;
      const auto a = kit::from_function(n, [](index_t i, index_t j) { return 1.0 / double(i + j + 1); });
      const auto r = kit::solve_honestly(a, b, by_auto()).report;
      EXPECT_NE(r.why, status::not_positive_definite) << n << ": " << r.message;
      const bool by_multigrid = r.why == status::singular && r.precond == "amg";
      EXPECT_TRUE(!by_multigrid || mentions(r.message, "where rounding ended cg with amg")) << r.message;
      spoilt += by_multigrid;
    }
  EXPECT_GT(spoilt, 0);
}

TEST(ladder_range, works_in_single_precision) {
  auto o = by_auto(1e-4);
  const auto a = two_graphs();
  host_array<float> b(a.shape.rows, 1.0f);
  for (index_t i = 0; i < b.size(); i += 3) b[i] = -1.5f;
  const auto s = kit::solve_honestly<float>(a, b, o);
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
}

} // namespace
} // namespace furrow
