// SPDX-License-Identifier: BSD-3-Clause
// Scaling and order by name, around solvers and preconditioners: on systems that were scaled and shuffled.
#include "arranging.hpp"
#include "solve_test_kit.hpp"

#include <furrow/assemble.hpp>
#include <furrow/batch.hpp>
#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

using namespace solve_test;

std::vector<std::int32_t> shuffled(index_t n, std::uint32_t seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::uint32_t state = seed;
  for (index_t i = n - 1; i > 0; --i) {
    state = state * 1664525u + 1013904223u;
    std::swap(order[std::size_t(i)], order[state / 256u % std::size_t(i + 1)]);
  }
  return order;
}

double power(index_t i, int digits) { return std::pow(10.0, double(i * 37 % (2 * digits + 1) - digits)); }

/// P R A C Q': rows and columns scaled by 10^-digits to 10^digits, and moved.
coo<double> moved(const coo<double>& a, const std::vector<std::int32_t>& p, const std::vector<std::int32_t>& q,
                  int digits) {
  host_array<std::int32_t> row(a.nnz()), col(a.nnz());
  host_array<double> val(a.nnz());
  for (index_t k = 0; k < a.nnz(); ++k) {
    row[k] = p[std::size_t(a.row[k])], col[k] = q[std::size_t(a.col[k])];
    val[k] = a.val[k] * power(a.row[k], digits) * power(a.col[k] + 11, digits);
  }
  return assemble(a.shape, as_cview(row), as_cview(col), as_cview(val));
}

/// Convection on a grid, its rows and columns shuffled apart and scaled: no diagonal to speak of.
coo<double> hidden_convection(index_t side, int digits = 3) {
  const auto a = generate("convection2d:" + std::to_string(side) + ":20").a;
  const index_t n = a.shape.rows;
  return moved(a, shuffled(n, 5), shuffled(n, 17), digits);
}

/// S L S of the Laplacian of a grid, shuffled.
coo<double> hidden_laplacian(index_t side, int digits) {
  const auto a = kit::laplacian(side, side);
  const auto p = shuffled(side * side, 3);
  auto b = moved(a, p, p, 0);
  for (index_t k = 0; k < b.nnz(); ++k) b.val[k] *= power(b.row[k], digits) * power(b.col[k], digits);
  return b;
}

solve_options by(std::string solver, std::string precond, std::string scale, std::string reorder = "none") {
  auto o = with(std::move(precond), 1e-8);
  o.solver = std::move(solver);
  o.scale = std::move(scale), o.reorder = std::move(reorder);
  o.max_iterations = 2000;
  return o;
}

std::string refusal_of(const coo<double>& a, const solve_options& o) {
  const auto b = ones(a.shape.rows);
  host_array<double> x(a.shape.cols, 0.0);
  try {
    return solve(coo<double>(a), as_cview(b), as_view(x), o).message;
  } catch (const error& e) {
    return e.what();
  }
}

double largest_error(const host_array<double>& x, const host_array<double>& expected) {
  double most = 0, size = 0;
  for (index_t i = 0; i < x.size(); ++i)
    most = std::max(most, std::abs(x[i] - expected[i])), size = std::max(size, std::abs(expected[i]));
  return most / size;
}

TEST(arranging, moves_entries_where_it_says_and_gives_them_scales) {
  const auto a = hidden_convection(9);
  const index_t n = a.shape.rows;
  std::vector<std::vector<double>> dense(std::size_t(n), std::vector<double>(std::size_t(n), 0.0));
  for (index_t k = 0; k < a.nnz(); ++k) dense[std::size_t(a.row[k])][std::size_t(a.col[k])] = a.val[k];
  for (const auto* const order : {"none", "rcm"}) {
    const auto s = arrange(a, by("gmres", "none", "matching", order), false);
    ASSERT_EQ(s.a.nnz(), a.nnz());
    index_t on_diagonal = 0, farthest = 0;
    for (index_t k = 0; k < s.a.nnz(); ++k) {
      const index_t i = s.a.row[k], j = s.a.col[k];
      EXPECT_TRUE(k == 0 || std::pair(s.a.row[k - 1], s.a.col[k - 1]) < std::pair(s.a.row[k], s.a.col[k]));
      EXPECT_EQ(s.a.val[k], dense[std::size_t(s.moves.row[i])][std::size_t(s.moves.column[j])]);
      const double scaled = s.scales->row[i] * std::abs(s.a.val[k]) * s.scales->col[j];
      EXPECT_LE(scaled, 1 + 1e-12);
      farthest = std::max(farthest, std::abs(i - j));
      if (i != j) continue;
      ++on_diagonal;
      EXPECT_NEAR(scaled, 1, 1e-12);
    }
    EXPECT_EQ(on_diagonal, n);
    if (order == std::string("rcm")) {
      EXPECT_LE(farthest, 12); // a grid of 9 x 9
      EXPECT_TRUE(mentions(s.about, "and is " + std::to_string(farthest) + " now")) << s.about;
    }
  }
}

TEST(arranging, solves_what_no_method_solves_as_it_stands) {
  const auto a = hidden_convection(20);
  const auto expected = kit::random_vector<double>(400, 7);
  const auto b = kit::times(a, expected);
  for (const auto& [solver, precond] :
       {std::pair{"gmres:50", "jacobi"}, {"bicgstab", "jacobi"}, {"gmres:50", "none"}, {"bicgstab", "ilu:0:natural"}}) {
    EXPECT_NE(kit::solve_honestly(a, b, by(solver, precond, "none")).report.why, status::converged) << solver;
    for (const auto* const order : {"none", "rcm"}) {
      const auto [report, x] = kit::solve_honestly(a, b, by(solver, precond, "matching", order));
      EXPECT_EQ(report.why, status::converged) << solver << " with " << precond << ": " << report.message;
      EXPECT_LT(report.iterations, 400);
      EXPECT_EQ(report.scale, "matching");
      EXPECT_EQ(report.reorder, order);
      EXPECT_TRUE(mentions(report.arranged_about, "of 400 rows change places")) << report.arranged_about;
    }
  }
}

TEST(arranging, is_taken_by_auto_and_by_a_direct_solver) {
  const auto a = hidden_convection(20);
  const auto expected = kit::random_vector<double>(400, 7);
  const auto b = kit::times(a, expected);
  const auto plain = kit::solve_honestly(a, b, by("direct", "lu", "none")).report;
  for (const auto* const precond : {"lu:band", "lu:dense"}) {
    const auto [report, x] = kit::solve_honestly(a, b, by("direct", precond, "matching", "rcm"));
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_LT(report.condition_estimate, 3 * plain.condition_estimate); // of A, not of what was factored
    EXPECT_GT(report.condition_estimate, plain.condition_estimate / 3);
    EXPECT_GT(report.error_estimate, 0.01 * largest_error(x, expected));
  }
  // The band of a matrix in its own order is all of it.
  const auto wide = kit::solve_honestly(a, b, by("direct", "lu:band", "none")).report;
  const auto narrow = kit::solve_honestly(a, b, by("direct", "lu:band", "matching", "rcm")).report;
  EXPECT_GT(wide.factor_entries, 8 * narrow.factor_entries);
  const auto found = kit::solve_honestly(a, b, by("auto", "auto", "matching", "rcm")).report;
  EXPECT_EQ(found.why, status::converged) << found.message;
  EXPECT_FALSE(found.rungs.empty());
  EXPECT_EQ(found.scale, "matching");
}

TEST(arranging, a_symmetric_scaling_is_jacobi_where_there_is_no_other_preconditioner) {
  const auto a = hidden_laplacian(20, 2);
  const auto b = kit::random_vector<double>(400, 9);
  for (const auto* const solver : {"cg", "minres"}) {
    const auto bare = kit::solve_honestly(a, b, by(solver, "none", "none")).report;
    const auto jacobi = kit::solve_honestly(a, b, by(solver, "jacobi", "none")).report;
    const auto scaled = kit::solve_honestly(a, b, by(solver, "none", "symmetric")).report;
    const auto both = kit::solve_honestly(a, b, by(solver, "jacobi", "symmetric", "rcm")).report;
    EXPECT_EQ(scaled.why, status::converged) << scaled.message;
    EXPECT_NEAR(double(scaled.iterations), double(jacobi.iterations), 2 + 0.02 * double(jacobi.iterations));
    EXPECT_NEAR(double(both.iterations), double(jacobi.iterations), 2 + 0.02 * double(jacobi.iterations));
    EXPECT_TRUE(bare.why != status::converged || bare.iterations > 3 * jacobi.iterations) << bare.message;
    EXPECT_TRUE(mentions(scaled.arranged_about, "symmetric: scales")) << scaled.arranged_about;
  }
  const auto stored = kit::solve_honestly(a, b, by("cg", "ic0", "symmetric", "rcm")).report; // one that is no diagonal
  EXPECT_EQ(stored.why, status::converged) << stored.message;
  const auto beside = kit::solve_honestly(a, b, by("cg", "ic0", "none", "rcm")).report;
  EXPECT_NEAR(double(stored.iterations), double(beside.iterations), 2);
}

template <class V> struct arranging_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(arranging_of, precisions);

TYPED_TEST(arranging_of, whoever_looks_sees_x_in_the_order_of_the_caller) {
  using V = TypeParam;
  const auto a = hidden_convection(15, 1);
  const auto b = kit::random_vector<V>(225, 4);
  for (const auto* const solver : {"gmres:30", "bicgstab", "auto"}) {
    auto o = by(solver, solver == std::string("auto") ? "auto" : "jacobi", "matching", "rcm");
    o.rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
    const double rounding = sizeof(V) == 8 ? 1e-7 : 2e-3;
    index_t told = 0, watched = 0;
    const auto is_its_residual = [&](const progress& p, cview<double> x) {
      host_array<V> own(x.size);
      std::transform(x.begin(), x.end(), own.begin(), [](double v) { return static_cast<V>(v); });
      const auto truth = kit::true_residual(kit::as_precision<V>(a), as_cview(b), as_cview(own));
      EXPECT_NEAR(double(truth.norm / truth.norm_b), p.relative_residual, rounding + 0.01 * p.relative_residual)
          << solver << " " << p.iteration;
    };
    o.monitor_every = 5, o.watch_every = 7;
    o.monitor = [&](const progress& p, cview<double> x) { return is_its_residual(p, x), ++told, true; };
    o.watch = [&](const progress& p) {
      if (p.due && p.x && p.iteration > 0) is_its_residual(p, as_cview(p.x())), ++watched;
      return true;
    };
    const auto [report, x] = kit::solve_honestly(a, b, o);
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_TRUE(solver == std::string("auto") || (told > 0 && watched > 0)) << solver;
    auto again = by(solver, o.precond, "matching", "rcm"); // from its own answer
    again.rtol = o.rtol;
    const auto warm = kit::solve_honestly(a, b, again, host_array<V>(x)).report;
    EXPECT_EQ(warm.why, status::converged) << warm.message;
    EXPECT_LE(warm.iterations, 1);
  }
}

TYPED_TEST(arranging_of, a_kept_solver_takes_new_values_and_several_right_hand_sides) {
  using V = TypeParam;
  const auto first = kit::as_precision<V>(hidden_convection(15, 1));
  coo<V> second = first; // rows that were large are small: another matching, perhaps
  for (index_t k = 0; k < second.nnz(); ++k) second.val[k] *= V(1 + (second.row[k] % 7)) / V(1 + second.col[k] % 5);
  for (const auto* const precond : {"jacobi", "ilut"}) {
    auto o = by("gmres:50", precond, "matching", "rcm");
    o.rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
    solver<V> s(coo<V>(first), o);
    for (const coo<V>* const now : std::initializer_list<const coo<V>*>{&first, &second, &first}) {
      if (now == &second) s.update_values(coo<V>(*now));
      else s.update_values(matrix<V>(coo<V>(*now)));
      const auto one = kit::random_vector<V>(225, 8);
      host_array<V> b(3 * 225, V(0)), x(3 * 225, V(0));
      std::copy(one.begin(), one.end(), b.begin());
      std::copy(one.begin(), one.end(), b.begin() + 450);
      b[450 + 10] = std::numeric_limits<V>::quiet_NaN();
      const auto reports = s.solve(as_cview(b), as_view(x), 3);
      EXPECT_EQ(reports[0].why, status::converged) << reports[0].message;
      EXPECT_EQ(reports[1].message, "b is zero, so x is zero");
      EXPECT_EQ(reports[2].message, "iteration 0: element 11 of b is nan");
      const auto truth = kit::true_residual(*now, cview<V>{b.data(), 225}, cview<V>{x.data(), 225});
      EXPECT_LE(truth.norm, o.rtol * truth.norm_b * 1.01 + truth.rounding);
    }
  }
}

TEST(arranging, refuses_in_a_sentence_what_does_not_go_together) {
  const auto a = kit::laplacian(8, 8), convection = hidden_convection(8);
  const auto says = [](const coo<double>& m, const solve_options& o, const char* what) {
    EXPECT_TRUE(mentions(refusal_of(m, o), what)) << refusal_of(m, o);
  };
  for (const auto* const solver : {"cg", "minres", "cr", "fcg", "block_cg", "cg_single_reduction"})
    says(a, by(solver, "jacobi", "matching"), "needs a symmetric matrix, which matching does not leave");
  says(a, by("lsmr", "jacobi", "symmetric"), "scales the columns itself");
  says(a, by("refine:cg", "auto", "symmetric"), "makes its preconditioner itself");
  says(a, by("cg", "amg", "symmetric"), "amg scales by the diagonal itself");
  says(a, by("cg", "block_jacobi:starts=0,3", "none", "rcm"),
       "given blocks are of rows that follow each other, which rcm");
  says(a, by("cg", "jacobi", "mc64"), "there is no scaling 'mc64': choose one of none, symmetric, matching");
  says(a, by("cg", "jacobi", "none", "amd"), "there is no order 'amd': choose one of none, rcm");
  says(convection, by("gmres", "none", "symmetric"), "by which symmetric scaling would divide: take matching, or none");
  auto o = by("lsmr", "jacobi", "none", "rcm");
  says(kit::from_function(4, [](index_t i, index_t j) { return i == j && i < 3 ? 1.0 : 0.0; }),
       by("gmres", "none", "matching"), "structurally singular, rank 3 of 4, whatever its values: row 4 has no column");
  const coo<double> tall{{3, 2}, {0, 1, 2}, {0, 1, 0}, {1, 1, 1}};
  says(tall, o, "the matrix is 3 x 2: only square ones are scaled or reordered by name");
  const std::vector<batch_system<double, std::int32_t>> systems;
  o = by("cg", "jacobi", "symmetric");
  EXPECT_THROW((solve_batch<double, std::int32_t>(systems, o)), error);
  const matrix<double> own(coo<double>{a});
  EXPECT_THROW(solver<double>(*own.op(), nullptr, o), error);
}

TEST(arranging, names_rows_by_the_numbers_of_the_caller) {
  auto a = kit::laplacian(8, 8);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 20 && a.col[k] == 20) a.val[k] = -4;
  EXPECT_TRUE(mentions(refusal_of(a, by("cg", "jacobi", "symmetric", "rcm")), "diagonal entry 21 is -4"));
  a = kit::laplacian(8, 8);
  a.val[1] = 5;
  EXPECT_TRUE(mentions(refusal_of(a, by("cg", "jacobi", "none", "rcm")), "symmetric"));
  a = kit::from_function(9, [](index_t i, index_t j) {
    return i == j ? (i == 4 ? 0.0 : 2.0) : i == j + 1 ? 1.0 : 0.0;
  });
  EXPECT_TRUE(mentions(refusal_of(a, by("gmres", "jacobi", "none", "rcm")), "numbered as they were moved"));
}

TEST(arranging, says_what_it_did_when_a_nan_ends_it) {
  auto a = hidden_convection(8);
  a.val[3] = nan;
  EXPECT_TRUE(mentions(refusal_of(a, by("gmres", "jacobi", "matching", "rcm")), "the matrix holds a NaN"));
}

} // namespace
} // namespace furrow
