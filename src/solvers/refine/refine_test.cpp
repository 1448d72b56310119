// SPDX-License-Identifier: BSD-3-Clause
#include "kit/guarded.hpp"
#include "kit/hilbert.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

solve_options refining(std::string solver = "refine", std::string precond = "auto", double rtol = 1e-12) {
  return kit::options(std::move(solver), std::move(precond), rtol);
}

using kit::mentions;

coo<double> times_a_power(coo<double> a, int exponent) {
  for (double& v : a.val) v = std::ldexp(v, exponent);
  return a;
}

/// Fourth differences on a line: a condition number of some (0.42 n)^4, which no scaling of rows makes smaller.
coo<double> beam(index_t n) {
  return kit::from_function(n, [](index_t i, index_t j) {
    const index_t off = std::abs(i - j);
    return off == 0 ? 6.0 : off == 1 ? -4.0 : off == 2 ? 1.0 : 0.0;
  });
}

/// b = A x for a random x, solved; the error of x beside its largest element.
struct trial {
  solve_report report;
  double error = 0;
};
trial solve_known(const coo<double>& a, const solve_options& o) {
  const auto expected = kit::random_vector<double>(a.shape.cols, 4);
  auto s = kit::solve_honestly<double>(a, kit::times(a, expected), o);
  double error = 0;
  for (index_t i = 0; i < a.shape.cols; ++i) error = std::max(error, std::abs(s.x[i] - expected[i]));
  return {std::move(s.report), error};
}

TEST(refine, reaches_the_accuracy_of_doubles_with_every_inner_solver) {
  const auto symmetric = generate("poisson2d:30").a, other = generate("convection2d:30:20").a;
  for (const char* inner : {"", ":cg", ":cg_single_reduction", ":fcg", ":cr", ":minres", ":bicgstab", ":bicgstab2",
                            ":idr:4", ":tfqmr", ":gmres:30", ":fgmres", ":block_cg"}) {
    const auto t = solve_known(symmetric, refining(std::string("refine") + inner));
    EXPECT_EQ(t.report.why, status::converged) << inner << ": " << t.report.message;
    EXPECT_LE(t.error, 1e-9) << inner;
    EXPECT_LE(t.report.iterations, 5) << inner;
    EXPECT_GE(t.report.inner_iterations, 10) << inner;
  }
  for (const char* inner : {"", ":bicgstab", ":bicgstab2", ":idr:4", ":tfqmr", ":gmres:30", ":fgmres"}) {
    const auto t = solve_known(other, refining(std::string("refine") + inner));
    EXPECT_EQ(t.report.why, status::converged) << inner << ": " << t.report.message;
    EXPECT_LE(t.error, 1e-9) << inner;
  }
}

TEST(refine, takes_the_solver_that_the_matrix_asks_for) {
  const auto ran = [](const coo<double>& a) { return solve_known(a, refining()).report.solver; };
  EXPECT_EQ(ran(generate("poisson2d:9").a), "refine:cg");
  EXPECT_EQ(ran(kit::assemble({3, 3}, {{0, 1, 2}, {1, 0, 2}, {2, 2, 1}})), "refine:minres");
  EXPECT_EQ(ran(kit::diagonal({-1, -2, -3})), "refine:minres");
  EXPECT_EQ(ran(generate("convection2d:9:5").a), "refine:bicgstab");
}

TEST(refine, preconditions_in_single_precision) {
  const auto a = generate("poisson2d:40").a;
  const auto plain = solve_known(a, refining("refine", "none")).report;
  for (const char* m : {"jacobi", "ic0", "fsai", "amg"}) {
    const auto t = solve_known(a, refining("refine", m));
    EXPECT_EQ(t.report.why, status::converged) << m << ": " << t.report.message;
    EXPECT_EQ(t.report.precond, m);
    EXPECT_LE(t.error, 1e-9) << m;
    EXPECT_LE(t.report.inner_iterations, plain.inner_iterations) << m;
  }
  EXPECT_FALSE(solve_known(a, refining("refine", "amg")).report.levels.empty());
  EXPECT_EQ(solve_known(generate("convection2d:20:50").a, refining("refine", "ilu")).report.why, status::converged);
}

TEST(refine, says_where_single_precision_does_not_suffice) {
  const auto a = beam(300);
  for (const char* solver : {"refine", "refine:minres", "refine:gmres:50", "refine:bicgstab"}) {
    const auto t = solve_known(a, refining(solver, "jacobi", 1e-10));
    EXPECT_NE(t.report.why, status::converged) << solver;
    EXPECT_NE(t.report.why, status::max_iterations) << solver;
    EXPECT_TRUE(mentions(t.report.message, "single precision")) << t.report.message;
    EXPECT_TRUE(mentions(t.report.message, "in double precision")) << t.report.message;
    EXPECT_LE(t.report.relative_residual, 1 + 1e-14) << solver;
  }
  const auto direct = solve_known(a, refining("direct", "lu:band", 1e-10)).report;
  EXPECT_EQ(direct.why, status::converged) << direct.message;
}

TEST(refine, stops_where_rounding_of_doubles_forbids_the_goal) {
  const auto t = solve_known(generate("poisson2d:20").a, refining("refine", "jacobi", 1e-19));
  EXPECT_EQ(t.report.why, status::stagnated);
  EXPECT_TRUE(mentions(t.report.message, "rounding limits this matrix")) << t.report.message;
}

TEST(refine, names_what_ended_the_inner_solver) {
  const auto indefinite = kit::laplacian(12, 12, 1, true, -1.3);
  const auto t = solve_known(indefinite, refining("refine:cg", "none"));
  EXPECT_EQ(t.report.why, status::not_positive_definite) << t.report.message;
  EXPECT_TRUE(mentions(t.report.message, "p'Ap")) << t.report.message;
  EXPECT_TRUE(mentions(t.report.message, "refine:minres")) << t.report.message;
}

TEST(refine, does_not_call_a_matrix_indefinite_that_is_so_when_it_is_rounded) {
  auto o = refining("refine:cg");
  o.precond = "block_jacobi";
  host_array<double> x(12, 0.0);
  const auto report = solver<double>(kit::hilbert(12), o).solve(as_cview(host_array<double>(12, 1.0)), as_view(x));
  EXPECT_EQ(report.why, status::not_positive_definite) << report.message;
  EXPECT_TRUE(mentions(report.message, "in the single precision of refine the ")) << report.message;
  EXPECT_TRUE(mentions(report.message, "; the solver cg by itself keeps the doubles")) << report.message;
}

/// A saddle point of condition number 60 with a diagonal block of -1e-11, which jacobi divides by.
TEST(refine, does_not_call_a_matrix_singular_that_is_so_in_single_precision) {
  const auto a = kit::from_function(21, [](index_t i, index_t j) {
    if (i >= 16 && j >= 16) return i == j ? -1e-11 : 0.0;
    const auto [low, high] = std::minmax(i, j);
    return (i == j ? 1.0 : 0.0) + std::sin(3 * double((low + 1) * (high + 2)));
  });
  const auto b = kit::times(a, host_array<double>(21, 1.0));
  const auto r = kit::solve_honestly<double>(a, b, refining("refine:minres", "jacobi", 1e-8)).report;
  EXPECT_EQ(r.why, status::stagnated) << r.message;
  EXPECT_TRUE(mentions(r.message, "the matrix is singular in single precision")) << r.message;
}

TEST(refine, says_that_pivots_are_those_of_single_precision) {
  const auto a = kit::from_function(25, [](index_t i, index_t j) {
    const bool end = i == j && (i == 0 || i == 24);
    return end ? 1 + 1e-9 : i == j ? 2 + 1e-9 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
  const auto r = solve_known(a, refining("refine", "lu:band", 1e-8)).report;
  EXPECT_EQ(r.why, status::singular);
  EXPECT_TRUE(mentions(r.message, "in the single precision of refine the matrix is singular: column 25")) << r.message;
  EXPECT_TRUE(mentions(r.message, "; the solver cg by itself keeps the doubles")) << r.message;
}

TEST(refine, refuses_what_it_cannot_serve) {
  const auto a = generate("poisson2d:5").a;
  for (const char* solver : {"refine:refine", "refine:direct", "refine:lsmr", "refine:auto", "refine:no_such_thing",
                             "refine:gmres:0", "refine:cg:3"})
    EXPECT_THROW(solve_known(a, refining(solver)), error) << solver;
  EXPECT_THROW(solve_known(generate("convection2d:5:3").a, refining("refine:cg")), error);
  EXPECT_THROW(solve_known(kit::assemble({2, 3}, {{0, 0, 1}}), refining()), error);
  EXPECT_TRUE(
      mentions(kit::said_by([&] { solver<float>(kit::as_precision<float>(a), refining()); }), "double precision only"));
  auto narrow = refining();
  narrow.values = precision::f32;
  EXPECT_TRUE(mentions(kit::said_by([&] { solve_known(a, narrow); }), "double precision only"));
  const function_operator<double> own({3, 3}, [](cview<double>, view<double>) {});
  EXPECT_TRUE(mentions(kit::said_by([&] { solver<double>(own, nullptr, refining()); }), "give the matrix"));
  const auto wide = kit::diagonal({1, 1e-60, 1});
  EXPECT_TRUE(mentions(kit::said_by([&] { solve_known(wide, refining()); }), "refine rounds the matrix"));
}

TEST(refine, takes_matrices_beyond_the_range_of_single_precision) {
  const auto a = generate("poisson2d:15").a;
  for (const int exponent : {-600, -130, 130, 600}) {
    const auto t = solve_known(times_a_power(a, exponent), refining());
    EXPECT_EQ(t.report.why, status::converged) << exponent << ": " << t.report.message;
    EXPECT_LE(t.error, 1e-9) << exponent;
  }
}

TEST(refine, has_the_same_bits_for_every_number_of_threads) {
  const auto a = kit::laplacian(50, 40, 10);
  const auto b = kit::random_vector<double>(a.shape.rows, 11);
  kit::solved<double> first;
  for (const int count : {1, 1, 2, 3}) {
    set_threads(count);
    auto next = kit::solve_honestly<double>(a, b, refining());
    ASSERT_EQ(next.report.why, status::converged) << next.report.message;
    if (first.x.empty()) first = std::move(next);
    else {
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(next.x))) << count << " threads";
      EXPECT_EQ(first.report.history, next.report.history) << count << " threads";
      EXPECT_EQ(first.report.inner_iterations, next.report.inner_iterations) << count << " threads";
    }
  }
  set_threads(0);
}

TEST(refine, is_set_up_once) {
  const auto a = generate("poisson2d:30").a;
  solver<double> kept(coo<double>(a), refining());
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  host_array<double> x(b.size(), 0.0), again(b.size(), 0.0);
  EXPECT_GT(kept.solve(as_cview(b), as_view(x)).setup_seconds, 0);
  const auto second = kept.solve(as_cview(b), as_view(again));
  EXPECT_EQ(second.why, status::converged) << second.message;
  EXPECT_EQ(second.setup_seconds, 0);
  EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(again)));
  const matrix<double> stored((coo<double>(a)));
  std::ranges::fill(again, 0.0);
  EXPECT_EQ(solver<double>(stored, refining()).solve(as_cview(b), as_view(again)).why, status::converged);
}

TEST(refine, says_what_it_moves_and_holds) {
  const auto a = generate("poisson2d:130").a; // of fewer entries a solver looks for no format
  const auto r = solve_known(a, refining("refine:cg", "jacobi")).report;
  const auto single =
      kit::solve_honestly<float>(a, kit::random_vector<float>(a.shape.rows, 2), refining("cg", "jacobi", 1e-3)).report;
  const double corrections = double(r.iterations), n = double(a.shape.rows);
  EXPECT_NEAR(r.bytes_per_iteration * corrections,
              corrections * (r.product_bytes + 5.5 * 8 * n) + double(r.inner_iterations) * single.bytes_per_iteration,
              1e-9 * r.bytes_per_iteration * corrections);
  memory_estimate told;
  auto o = refining();
  o.announce = [&](const memory_estimate& e) { told = e; };
  const auto all = solve_known(a, o).report;
  EXPECT_GT(all.stored_bytes, all.product_bytes + single.product_bytes);
  EXPECT_GE(told.host, all.stored_bytes);
}

TEST(refine, stops_when_it_is_told_to) {
  const auto a = generate("poisson2d:300").a;
  auto o = refining("refine:cg", "none");
  int calls = 0;
  o.watch = [&](const progress&) { return ++calls != 2; }; // asked once more, it would go on
  EXPECT_EQ(solve_known(a, o).report.why, status::interrupted);
  o.watch = {};
  o.max_iterations = 1;
  EXPECT_EQ(solve_known(a, o).report.why, status::max_iterations);
  o.max_iterations = 0;
  o.time_limit = 0.01;
  EXPECT_EQ(solve_known(a, o).report.why, status::max_iterations);
}

TEST(refine, begins_with_the_first_guess) {
  const auto a = generate("poisson2d:20").a;
  const auto expected = kit::random_vector<double>(a.shape.cols, 4);
  const auto b = kit::times(a, expected);
  const auto s = kit::solve_honestly<double>(a, b, refining("refine", "auto", 1e-9), host_array<double>(expected));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_EQ(s.report.iterations, 0);
  auto near = host_array<double>(expected);
  for (double& v : near) v += 1e-3;
  EXPECT_EQ(kit::solve_honestly<double>(a, b, refining(), std::move(near)).report.why, status::converged);
}

} // namespace
} // namespace furrow
