// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/lu/norm_estimate.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

solve_options directly(std::string precond = "auto", double rtol = 1e-12) {
  return kit::options("direct", std::move(precond), rtol);
}

/// A random matrix without structure, whose diagonal is nothing special.
coo<double> scattered(index_t n, unsigned seed) {
  std::vector<kit::triplet> entries;
  const auto value = kit::random_vector<double>(5 * n, seed);
  for (index_t k = 0; k < 4 * n; ++k) entries.push_back({k % n, (k * 7919 + k / n * 31 + seed) % n, value[k] - 1});
  for (index_t i = 0; i < n; ++i) entries.push_back({i, (i + 3) % n, 3 + value[4 * n + i]}); // has a full transversal
  return kit::assemble({n, n}, std::move(entries));
}

template <class V> struct lu_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(lu_of, precisions);

TYPED_TEST(lu_of, solves_by_every_kind_of_factors) {
  using V = TypeParam;
  for (const char* spec : {"lu", "lu:dense", "lu:band", "lu:sparse"})
    for (const index_t n : {1, 2, 7, 60, 300}) {
      const auto a = scattered(n, 5);
      host_array<V> b(n);
      std::ranges::transform(kit::times(a, host_array<double>(n, 1.0)), b.begin(), [](double v) { return V(v); });
      const auto s = kit::solve_honestly<V>(a, b, directly(spec, sizeof(V) == 8 ? 1e-12 : 1e-5));
      EXPECT_EQ(s.report.why, status::converged) << spec << ", " << n << ": " << s.report.message;
      for (const V v : s.x) EXPECT_NEAR(double(v), 1, sizeof(V) == 8 ? 1e-8 : 1e-2) << spec << ", " << n;
    }
}

TEST(lu_answers, agrees_with_a_reference_on_definite_matrices) {
  const auto a = kit::laplacian(9, 11);
  const auto b = kit::random_vector<double>(99, 4);
  const auto exact = kit::cholesky_solve(a, b);
  for (const char* spec : {"lu:dense", "lu:band", "lu:sparse"}) {
    const auto s = kit::solve_honestly(a, b, directly(spec));
    for (index_t i = 0; i < 99; ++i) EXPECT_NEAR(s.x[i], double(exact[i]), 1e-12) << spec;
  }
}

TEST(lu_answers, takes_rows_and_columns_of_many_magnitudes) {
  auto a = scattered(200, 8);
  host_array<double> exact(200, 1.0);
  for (index_t k = 0; k < a.nnz(); ++k)
    a.val[k] = std::ldexp(a.val[k], int(a.row[k] * 37 % 20) - 10 + int(a.col[k] * 53 % 20) - 10);
  for (const char* spec : {"lu:dense", "lu:sparse"}) {
    const auto s = kit::solve_honestly(a, kit::times(a, exact), directly(spec, 1e-10));
    EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
  }
}

TEST(lu_answers, says_which_column_makes_a_matrix_singular) {
  const auto why = [](const coo<double>& a, const char* spec) {
    host_array<double> x(a.shape.rows, 0.0);
    const auto r = solve(a, as_cview(host_array<double>(a.shape.rows, 1.0)), as_view(x), directly(spec));
    EXPECT_EQ(r.why, status::singular) << spec << ": " << r.message;
    EXPECT_NE(r.message.find("column"), std::string::npos);
    for (const double v : x) EXPECT_EQ(v, 0);
    return r.message;
  };
  coo<double> empty_column{{3, 3}, {0, 0, 1, 2}, {0, 1, 1, 0}, {1, 2, 3, 4}};
  coo<double> rank_one{{2, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2, 2, 4}};
  for (const char* spec : {"lu", "lu:dense", "lu:band", "lu:sparse"}) {
    EXPECT_NE(why(empty_column, spec).find("column 3"), std::string::npos);
    why(rank_one, spec);
  }
}

TEST(lu_answers, takes_pivots_from_rows_where_those_from_columns_grow) {
  const index_t n = 400;
  const auto wilkinson = kit::from_function(n, [](index_t i, index_t j) { // and the last pivot is exactly zero
    if (i >= n - 2 && j >= n - 2) return i == j ? 0.5 : double(2 + i - j);
    return i == j || j >= n - 2 ? 1.0 : i > j ? -1.0 : 0.0;
  });
  const auto wright = kit::from_function(n, [](index_t i, index_t j) {
    const double of_block = (i - j) % 2 == 0 ? -0.995 : -0.29;
    return i == j || (i < 2 && j == n - 2 + i) ? 1.0 : i / 2 == j / 2 + 1 ? of_block : 0.0;
  });
  for (const auto& a : {wilkinson, wright})
    for (const char* spec : {"lu", "lu:dense", "lu:band", "lu:sparse"}) {
      const auto expected = kit::random_vector<double>(n, 3);
      const auto s = kit::solve_honestly(a, kit::times(a, expected), directly(spec));
      ASSERT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
      EXPECT_LT(s.report.error_estimate, 1e-10) << spec;
      EXPECT_LT(s.report.condition_estimate, 1e3) << spec;
      for (index_t i = 0; i < n; ++i) ASSERT_NEAR(s.x[i], expected[i], 1e-11) << spec;
    }
}

TEST(lu_answers, estimates_the_condition_number_and_the_error) {
  // diag(1 ... 1e-k) between two rotations: condition number 10^k, known.
  for (const int k : {2, 6, 12}) {
    const double t = std::pow(10.0, -k), c = std::cos(0.3), s = std::sin(0.3);
    const coo<double> a{
        {2, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {c * c + t * s * s, (1 - t) * c * s, (1 - t) * c * s, s * s + t * c * c}};
    const auto r = kit::solve_honestly(a, kit::times(a, host_array<double>(2, 1.0)), directly()).report;
    EXPECT_GT(r.condition_estimate, 0.3 / t) << k;
    EXPECT_LT(r.condition_estimate, 4 / t) << k;
    EXPECT_EQ(r.warning, "") << k;
  }
  const double t = 1e-15;
  const coo<double> bad{{2, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 1 + t}};
  const auto r = kit::solve_honestly(bad, host_array<double>{1, 2}, directly("auto", 1e-8)).report;
  EXPECT_NE(r.warning, "") << r.message << ", error " << r.error_estimate;
}

/// Columns with units of 2^-250, 1 and 2^250, of which two may nearly depend on each other: an x that is off carries
/// its warning, and a right one none.
TEST(lu_answers, says_how_good_x_is_whatever_the_units_of_columns) {
  const index_t n = 60;
  int off = 0, right = 0;
  for (unsigned seed = 1; seed < 12; ++seed)
    for (const bool nearly_singular : {false, true}) {
      const auto value = kit::random_vector<double>(n * n, seed);
      const auto held = kit::random_vector<double>(n * n, seed + 100);
      const auto plain = [&](index_t i, index_t j) {
        const bool on_way = i == (j * 7 + 3) % n;
        return on_way ? 3.0 : held[i * n + j] > 0.9 ? value[i * n + j] : 0.0;
      };
      const auto unit = [&](index_t j) { return int((j * 5 + seed) % 3 - 1) * 250; };
      const auto a = kit::from_function(n, [&](index_t i, index_t j) {
        const bool as_other = nearly_singular && j == 5;
        return std::ldexp(plain(i, as_other ? 9 : j) + (as_other && i == 3 ? 1e-15 : 0.0), unit(j));
      });
      host_array<double> exact(n);
      for (index_t j = 0; j < n; ++j) exact[j] = std::ldexp(1.0 + 0.1 * double(j % 7), -unit(j));
      for (const char* spec : {"lu:dense", "lu:band", "lu:sparse"}) {
        const auto s = kit::solve_honestly(a, kit::times(a, exact), directly(spec, 1e-8));
        if (s.report.why != status::converged) continue;
        double error = 0, size = 0;
        for (index_t j = 0; j < n; ++j)
          error = std::max(error, std::abs(s.x[j] - exact[j])), size = std::max(size, std::abs(exact[j]));
        const bool is_off = error > 0.01 * size;
        off += is_off, right += !is_off && !nearly_singular;
        if (is_off || !nearly_singular) {
          EXPECT_EQ(s.report.warning.empty(), !is_off) << spec << ' ' << seed << ": " << error / size;
        }
      }
    }
  EXPECT_GT(off, 10);
  EXPECT_GT(right, 20);
}

/// What rows scaled by their largest entries leave of the others gives factors far from A, and no digit of x is right.
TEST(lu_answers, warns_of_columns_whose_units_leave_factors_far_from_the_matrix) {
  const int unit[] = {-250, 250, -250, -250};
  auto a = kit::assemble(
      {4, 4}, {{0, 1, 3}, {0, 3, 3}, {1, 0, 3}, {1, 2, 3}, {1, 3, 0x1p-48}, {2, 0, 1}, {3, 1, -1}, {3, 3, -1}});
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = std::ldexp(a.val[k], unit[a.col[k]]);
  host_array<double> x(4);
  for (index_t j = 0; j < 4; ++j) x[j] = std::ldexp(1 + double(j) / 8, -unit[j]);
  const auto r = kit::solve_honestly(a, kit::times(a, x), directly("lu:dense", 1e-8)).report;
  EXPECT_TRUE(r.why == status::singular || !r.warning.empty()) << r.message; // by rounding either one
}

TEST(lu_answers, norm_estimates_are_never_above_the_norm_and_hardly_below) {
  const index_t n = 30;
  for (unsigned seed = 1; seed < 20; ++seed) {
    const auto value = kit::random_vector<double>(n * n, seed);
    const auto product = [&](double* x, bool transposed) {
      host_array<double> y(n, 0.0);
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) y[i] += (value[transposed ? j * n + i : i * n + j] - 1) * x[j];
      std::ranges::copy(y, x);
    };
    double norm = 0;
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t i = 0; i < n; ++i) sum += std::abs(value[i * n + j] - 1);
      norm = std::max(norm, sum);
    }
    const double estimate = lu::norm_1_estimate(
        n, [&](double* x) { product(x, false); }, [&](double* x) { product(x, true); });
    EXPECT_LE(estimate, norm * (1 + 1e-12));
    EXPECT_GE(estimate, norm / 3);
  }
}

TEST(lu_answers, a_kept_solver_factors_once_and_repeats_its_bits) {
  const auto a = scattered(250, 3);
  solver<double> kept(a, directly());
  const auto b = kit::random_vector<double>(250, 1);
  host_array<double> x(250, 0.0), again(250, 0.0);
  kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(kept.solve(as_cview(b), as_view(again)).setup_seconds, 0);
  EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(again)));
}

TEST(lu_answers, preconditions_other_solvers) {
  const auto a = scattered(200, 2);
  const auto s =
      kit::solve_honestly(a, kit::times(a, host_array<double>(200, 1.0)), kit::options("bicgstab", "lu", 1e-10));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_LE(s.report.iterations, 2);
}

TEST(lu_answers, refuses_parameters_that_mean_nothing) {
  for (const char* spec : {"lu:quick", "lu:dense:3"})
    EXPECT_THROW(kit::solve_honestly(kit::laplacian(4), host_array<double>(4, 1.0), directly(spec)), error) << spec;
}

TEST(direct_answers, refines_with_any_preconditioner_and_says_where_it_is_no_inverse) {
  auto strong = kit::laplacian(30);
  for (index_t k = 0; k < strong.nnz(); ++k)
    if (strong.row[k] == strong.col[k]) strong.val[k] += 3;
  EXPECT_EQ(kit::solve_honestly(strong, host_array<double>(30, 1.0), directly("jacobi", 1e-10)).report.why,
            status::converged);
  auto weak = kit::laplacian(30);
  for (index_t k = 0; k < weak.nnz(); ++k)
    if (weak.row[k] == weak.col[k]) weak.val[k] = 0.5;
  const auto r = kit::solve_honestly(weak, host_array<double>(30, 1.0), directly("jacobi")).report;
  EXPECT_NE(r.why, status::converged);
  EXPECT_LE(r.relative_residual, 1 + 1e-14);
}

TEST(direct_answers, stops_where_rounding_forbids_the_goal) {
  const auto a = kit::laplacian(50);
  const auto r = kit::solve_honestly(a, kit::random_vector<double>(50, 6), directly("lu", 1e-18)).report;
  EXPECT_EQ(r.why, status::stagnated) << r.message;
}

} // namespace
} // namespace furrow
