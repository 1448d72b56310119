// SPDX-License-Identifier: BSD-3-Clause
// Least squares by lsmr and lsqr, held against dense factors in long double.
#include "lsmr.hpp"

#include "backends/cpu/space.hpp"
#include "core/transpose.hpp"
#include "kit/counting.hpp"
#include "kit/guarded.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"
#include "solvers/lsqr/lsqr.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <cmath>
#include <vector>

namespace furrow {
namespace {

using column = std::vector<long double>;

long double dot(const column& x, const column& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// |b - A x| of the least-squares x: b without its part in the range of A, whose columns are made orthogonal twice, the
/// longest of those left first.
long double least_residual(const coo<double>& a, cview<double> b) {
  std::vector<column> columns(static_cast<std::size_t>(a.shape.cols), column(static_cast<std::size_t>(a.shape.rows)));
  for (index_t k = 0; k < a.nnz(); ++k) columns[a.col[k]][a.row[k]] += a.val[k];
  column r(b.begin(), b.end());
  const auto take_away = [](const column& q, column& from) {
    const long double share = dot(q, from);
    for (std::size_t i = 0; i < q.size(); ++i) from[i] -= share * q[i];
  };
  std::vector<column> basis;
  long double first = 0;
  while (!columns.empty()) {
    const auto longest = std::ranges::max_element(columns, {}, [](const column& c) { return dot(c, c); });
    column q = *longest;
    columns.erase(longest);
    for (const column& p : basis) take_away(p, q);
    const long double size = std::sqrt(dot(q, q));
    first = std::max(first, size);
    if (size <= 1e-15L * first) break;
    for (long double& v : q) v /= size;
    for (column& c : columns) take_away(q, c);
    take_away(q, r);
    basis.push_back(std::move(q));
  }
  for (const column& q : basis) take_away(q, r);
  return std::sqrt(dot(r, r));
}

/// |A'r| and |r| of an x.
std::pair<long double, long double> normal_residual(const coo<double>& a, cview<double> b, cview<double> x) {
  column r(b.begin(), b.end()), g(static_cast<std::size_t>(a.shape.cols));
  for (index_t k = 0; k < a.nnz(); ++k) r[a.row[k]] -= static_cast<long double>(a.val[k]) * x[a.col[k]];
  for (index_t k = 0; k < a.nnz(); ++k) g[a.col[k]] += a.val[k] * r[a.row[k]];
  return {std::sqrt(dot(g, g)), std::sqrt(dot(r, r))};
}

double frobenius(const coo<double>& a) {
  double squares = 0;
  for (const double v : a.val) squares += v * v;
  return std::sqrt(squares);
}

/// A dense random matrix of the given rank: a product of two.
coo<double> of_rank(shape2 shape, index_t rank, std::uint64_t seed) {
  const auto left = kit::random_vector<double>(shape.rows * rank, seed),
             right = kit::random_vector<double>(rank * shape.cols, seed + 1);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < shape.rows; ++i)
    for (index_t j = 0; j < shape.cols; ++j) {
      double sum = 0;
      for (index_t k = 0; k < rank; ++k) sum += left[i * rank + k] * right[k * shape.cols + j];
      entries.push_back({i, j, sum});
    }
  return kit::assemble(shape, std::move(entries));
}

kit::solved<double> solve_for(const coo<double>& a, const host_array<double>& b, const solve_options& o) {
  return kit::solve_honestly<double>(a, b, o, host_array<double>(a.shape.cols, 0.0));
}

struct least_squares : testing::TestWithParam<const char*> {
  static solve_options options(const char* precond = "jacobi", double rtol = 1e-9) {
    return kit::options(GetParam(), precond, rtol);
  }
};

/// A path without an end that is held, and a b that is out of the range by a billionth: x alone is rounded to more.
TEST_P(least_squares, ends_where_rounding_lets_nothing_be_nearer) {
  const index_t n = 60;
  const auto a = kit::laplacian(n, 1, 1, true, 0);
  auto b = kit::times(a, kit::random_vector<double>(n, 4));
  for (double& v : b) v += 1e-9;
  const auto s = solve_for(a, b, options("jacobi", 1e-12));
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_TRUE(kit::mentions(s.report.message, "x minimises |b - A x| as far as rounding lets it;")) << s.report.message;
  EXPECT_GT(s.report.normal_residual, 1e-12);
  EXPECT_LT(s.report.iterations, 1000);
  const auto least = double(least_residual(a, as_cview(b)));
  EXPECT_NEAR(double(normal_residual(a, as_cview(b), as_cview(s.x)).second), least, 1e-3 * least);
}

/// The last step that is allowed brings |A'r| below the goal, and the recurrence would go on to that of rounding.
TEST_P(least_squares, knows_an_answer_at_its_last_step) {
  const auto a = of_rank({40, 11}, 11, 5);
  const auto b = kit::random_vector<double>(40, 9);
  const index_t all = solve_for(a, b, options("none")).report.iterations;
  auto o = options("none", 1e-6);
  o.max_iterations = all - 1;
  const auto s = solve_for(a, b, o);
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_EQ(s.report.iterations, all - 1);
  EXPECT_LE(s.report.normal_residual, 1e-6);
}

TEST_P(least_squares, finds_the_least_residual_of_every_shape_and_rank) {
  const shape2 shapes[] = {{1, 1}, {1, 5}, {5, 1}, {12, 7}, {7, 12}, {30, 30}, {40, 11}};
  for (const shape2 shape : shapes)
    for (const index_t rank : {index_t(1), index_t(3), std::min(shape.rows, shape.cols)}) {
      if (rank > std::min(shape.rows, shape.cols)) continue;
      for (const char* m : {"none", "jacobi"}) {
        SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + ", rank " +
                     std::to_string(rank) + ", " + m);
        const auto a = of_rank(shape, rank, 5);
        const auto b = kit::random_vector<double>(shape.rows, 9);
        const auto s = solve_for(a, b, options(m));
        const auto least = double(least_residual(a, as_cview(b)));
        const auto [normal, r] = normal_residual(a, as_cview(b), as_cview(s.x));
        double norm_b = 0;
        for (const double v : b) norm_b += v * v;
        norm_b = std::sqrt(norm_b);
        const bool full = rank == shape.rows; // then every b is in the range
        EXPECT_EQ(s.report.why, full ? status::converged : status::least_squares) << s.report.message;
        EXPECT_NEAR(double(r), least, 1e-9 * norm_b) << s.report.message;
        if (!full) {
          EXPECT_LE(double(normal), 1e-9 * frobenius(a) * double(r));
          EXPECT_LE(s.report.normal_residual, 1e-9);
          EXPECT_NE(s.report.message.find("not in the range"), std::string::npos) << s.report.message;
        }
      }
    }
}

TEST_P(least_squares, converges_where_b_is_in_the_range_of_a_singular_matrix) {
  for (const shape2 shape : {shape2{20, 20}, shape2{30, 12}, shape2{12, 30}}) {
    const auto a = of_rank(shape, 6, 3);
    const auto b = kit::times(a, kit::random_vector<double>(shape.cols, 4));
    const auto s = solve_for(a, b, options());
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  }
}

TEST_P(least_squares, does_not_take_a_small_singular_value_for_none) {
  // b has its part along the singular vector of 1e-7, and A'b is as small before x has seen it.
  for (const double small : {1e-3, 1e-5, 1e-7, 1e-9}) {
    const auto a = kit::diagonal({1, 0.5, 0.25, 0.9, small});
    const auto s = solve_for(a, host_array<double>{1, 1, 1, 1, 1}, options("none", 1e-6));
    EXPECT_EQ(s.report.why, status::converged) << small << ": " << s.report.message;
  }
}

TEST_P(least_squares, finds_the_shortest_answer) {
  const auto a = kit::assemble({1, 3}, {{0, 0, 1}, {0, 1, 2}, {0, 2, 2}});
  const auto s = solve_for(a, host_array<double>{9}, options("none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_NEAR(s.x[0], 1, 1e-12);
  EXPECT_NEAR(s.x[1], 2, 1e-12);
  EXPECT_NEAR(s.x[2], 2, 1e-12);
}

TEST_P(least_squares, knows_an_answer_when_it_begins_with_it) {
  const auto a = kit::assemble({3, 1}, {{0, 0, 1}, {1, 0, 1}});
  const host_array<double> across{1, -1, 3};
  EXPECT_EQ(solve_for(a, across, options()).report.why, status::least_squares);
  host_array<double> x{0.5};
  const host_array<double> b{0, 1, 1};
  const auto report = solve(a, as_cview(b), as_view(x), options());
  EXPECT_EQ(report.why, status::least_squares) << report.message;
  EXPECT_NEAR(x[0], 0.5, 1e-12);
}

TEST_P(least_squares, damped_solve_the_longer_system_from_any_first_guess) {
  const double damping = 0.3;
  const auto a = of_rank({15, 6}, 6, 8);
  const auto b = kit::random_vector<double>(15, 2);
  auto longer = a;
  longer.shape.rows = 21;
  const index_t entries = a.nnz();
  longer.row = host_array<std::int32_t>(entries + 6), longer.col = host_array<std::int32_t>(entries + 6);
  longer.val = host_array<double>(entries + 6);
  for (index_t k = 0; k < entries; ++k) longer.row[k] = a.row[k], longer.col[k] = a.col[k], longer.val[k] = a.val[k];
  for (index_t j = 0; j < 6; ++j) {
    longer.row[entries + j] = static_cast<std::int32_t>(15 + j), longer.col[entries + j] = static_cast<std::int32_t>(j);
    longer.val[entries + j] = damping;
  }
  host_array<double> longer_b(21, 0.0);
  std::ranges::copy(b, longer_b.begin());
  const auto expected = solve_for(longer, longer_b, options("none", 1e-12));
  ASSERT_EQ(expected.report.why, status::least_squares) << expected.report.message;
  for (const char* m : {"none", "jacobi"})
    for (const double guess : {0.0, 5.0}) {
      auto o = options(m, 1e-12);
      o.solver += ":0.3";
      host_array<double> x(6, guess);
      const auto report = solve(a, as_cview(b), as_view(x), o);
      EXPECT_EQ(report.why, status::least_squares) << report.message;
      EXPECT_NE(report.message.find("0.3^2"), std::string::npos) << report.message;
      for (index_t j = 0; j < 6; ++j) EXPECT_NEAR(x[j], expected.x[j], 1e-9) << m << ", " << guess;
    }
}

TEST_P(least_squares, takes_a_symmetric_preconditioner_of_a_symmetric_matrix) {
  const auto a = kit::laplacian(20, 20, 1, true, 0); // singular
  const auto b = kit::random_vector<double>(400, 7);
  const auto plain = solve_for(a, b, options("none")), s = solve_for(a, b, options("ic0"));
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_NEAR(s.report.relative_residual, plain.report.relative_residual, 1e-9);
  EXPECT_LT(s.report.iterations, plain.report.iterations);
}

TEST_P(least_squares, refuse_a_preconditioner_whose_transpose_nobody_has) {
  for (const char* m : {"ilu", "ic0"})
    kit::expect_refusal(fault::usage, "jacobi or none",
                        [&] { solve_for(generate("convection2d:5:30").a, host_array<double>(25, 1.0), options(m)); });
  auto o = options();
  o.solver += ":-1";
  EXPECT_THROW(solve_for(kit::laplacian(3), host_array<double>(3, 1.0), o), error);
}

TEST_P(least_squares, ask_for_the_transposed_operator) {
  const auto a = of_rank({9, 4}, 4, 1);
  const auto op = find_format("csr").cpu.make<double>()(coo<double>(a), {}, "auto"),
             back = find_format("csr").cpu.make<double>()(transposed(a), {}, "auto");
  EXPECT_THROW(solver<double>(*op, nullptr, options()), error);
  EXPECT_THROW(solver<double>(*op, nullptr, options(), {}, op.get()), error);
  solver<double> kept(*op, nullptr, options(), {}, back.get());
  const auto b = kit::random_vector<double>(9, 2);
  host_array<double> x(4, 0.0);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::least_squares);
  EXPECT_NEAR(double(normal_residual(a, as_cview(b), as_cview(x)).second), double(least_residual(a, as_cview(b))),
              1e-9);
}

TEST_P(least_squares, know_the_norm_of_columns_of_very_different_sizes) {
  auto a = of_rank({30, 8}, 8, 4);
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= std::pow(10.0, double(a.col[k]) - 4);
  const auto b = kit::random_vector<double>(30, 9);
  for (const char* m : {"none", "jacobi"}) {
    const auto s = solve_for(a, b, options(m, 1e-10));
    EXPECT_EQ(s.report.why, status::least_squares) << m << ": " << s.report.message;
  }
}

TEST_P(least_squares, does_not_take_squares_that_vanish_for_zero) {
  const auto s =
      solve_for(kit::assemble({2, 1}, {{0, 0, 1e-200}, {1, 0, 1e-200}}), host_array<double>{1, 3}, options("none"));
  EXPECT_NE(s.report.why, status::least_squares) << s.report.message;
  EXPECT_NE(s.report.why, status::converged) << s.report.message;
}

TEST_P(least_squares, say_where_numbers_overflow) {
  const auto a = kit::assemble({3, 1}, {{0, 0, 1e200}, {1, 0, 1e200}, {2, 0, -3e200}});
  const auto s = solve_for(a, host_array<double>{1, 2, 3}, options("none"));
  EXPECT_NE(s.report.why, status::least_squares) << s.report.message; // x = 0 leaves A'r at half of |A| |r|
  EXPECT_NE(s.report.why, status::converged) << s.report.message;
}

TEST_P(least_squares, does_not_take_products_that_leave_the_range_for_zero) {
  // A (A'r) has squares beyond the range; A'r of both at their smallest is zeros.
  const auto wide = kit::from_function(12, [](index_t i, index_t j) {
    return (i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0) * std::pow(10.0, 12.0 * double(i + j) - 132);
  });
  const auto small = kit::assemble({1, 1}, {{0, 0, 5e-324}});
  for (const char* m : {"none", "jacobi"})
    EXPECT_NE(solve_for(wide, host_array<double>(12, 1.0), options(m)).report.why, status::least_squares) << m;
  EXPECT_NE(solve_for(small, host_array<double>{5e-324}, options("none")).report.why, status::least_squares);
}

TEST_P(least_squares, have_the_same_bits_for_every_number_of_threads) {
  const auto a = generate("rectangular:9000:3000:4").a;
  const auto b = kit::random_vector<double>(9000, 6);
  host_array<double> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    auto s = solve_for(a, b, options());
    EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
    if (count == 1) first = std::move(s.x);
    else {
      EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(s.x))) << count;
    }
  }
  set_threads(0);
}

TEST_P(least_squares, work_in_single_precision) {
  const auto a = of_rank({40, 11}, 5, 5);
  const auto b = kit::random_vector<float>(40, 9);
  const auto s = kit::solve_honestly<float>(a, b, options("jacobi", 1e-4), host_array<float>(11, 0.0f));
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
}

TEST_P(least_squares, estimate_the_condition_from_below) {
  std::vector<double> d(200);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(1000.0, -double(i) / 199);
  const auto s = solve_for(kit::diagonal(d), kit::random_vector<double>(200, 3), options("none"));
  EXPECT_LE(s.report.condition_estimate, 1000 * (1 + 1e-6));
  EXPECT_GE(s.report.condition_estimate, 50);
}

INSTANTIATE_TEST_SUITE_P(both, least_squares, testing::Values("lsmr", "lsqr"),
                         [](const auto& p) { return std::string(p.param); });

/// What a step costs.
template <class Method> void check_cost(const char* precond, const char* parameters, double passes) {
  const auto a = generate("rectangular:600:300:5").a;
  kit::traffic seen;
  solver_needs needs;
  needs.transposed = true;
  const auto m = make_preconditioner<double>(precond, a, device{}, needs);
  const auto make = find_format("csr").cpu.make<double>();
  const kit::counting_operator<double> op(make(coo<double>(a), {}, "auto"), seen),
      back(make(transposed(a), {}, "auto"), seen);
  const auto b = kit::random_vector<double>(600, 3);
  host_array<double> x(300, 0.0);
  cpu::space<double> inner;
  kit::counting_space<cpu::space<double>> space(inner, seen);
  solve_options o;
  o.rtol = 1e-15;
  o.max_iterations = 10;
  const stats s = measure(a);
  const auto report =
      run_in<Method>(space, {op, *m, as_cview(b), as_view(x), s.norm_inf, s.norm_inf, s.row_max, parameters, &back}, o);
  EXPECT_EQ(report.iterations, 10) << report.message;
  EXPECT_EQ(double(seen.passes_inside_loops) / 10, passes);
  EXPECT_EQ(seen.bytes_inside_loops / 10, report.bytes_per_iteration);
  EXPECT_EQ(seen.waits_inside_loops, 0);
}

TEST(least_squares_cost, is_what_the_headers_say) {
  check_cost<lsmr_method>("none", "", 5);
  check_cost<lsmr_method>("jacobi", "", 5);
  check_cost<lsmr_method>("jacobi", "0.1", 6);
  check_cost<lsqr_method>("none", "", 5);
  check_cost<lsqr_method>("jacobi", "0.1", 6);
}

} // namespace
} // namespace furrow
