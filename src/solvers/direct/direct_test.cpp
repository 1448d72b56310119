// SPDX-License-Identifier: BSD-3-Clause
#include "kit/guarded.hpp"
#include "kit/hilbert.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

/// `lu` names its factors where this build has no sparse ones.
#if FURROW_HAS_SUPERLU
constexpr const char* factors = "auto";
#else
constexpr const char* factors = "lu:band";
#endif

template <class V> struct direct : testing::Test {
  static solve_options options(double rtol = sizeof(V) == 8 ? 1e-12 : 1e-5) {
    return kit::options("direct", factors, rtol);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(direct, precisions);

TYPED_TEST(direct, solves_matrices_of_any_kind) {
  using V = TypeParam;
  const auto indefinite = kit::from_function(60, [](index_t i, index_t j) {
    return i == j ? 0.0 : i + 1 == j || j + 1 == i ? 1.0 + double((i + j) % 5) : 0.0;
  });
  const auto one = kit::from_function(1, [](index_t, index_t) { return -4.0; });
  for (const auto& a : {generate("convection2d:20:100").a, generate("poisson2d:20").a, indefinite, one}) {
    const auto expected = kit::random_vector<V>(a.shape.rows, 4);
    const auto s = kit::solve_honestly<V>(a, kit::times<V>(a, expected), this->options());
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_LE(s.report.iterations, 2);
    EXPECT_EQ(s.report.precond, s.report.precond == "lu:band" ? "lu:band" : "lu");
    for (index_t i = 0; i < a.shape.rows; ++i) ASSERT_NEAR(s.x[i], expected[i], sizeof(V) == 8 ? 1e-11 : 1e-3);
    EXPECT_GE(s.report.condition_estimate, 0.99);
    EXPECT_TRUE(s.report.warning.empty()) << s.report.warning;
  }
}

TYPED_TEST(direct, solves_a_system_without_rows) {
  using V = TypeParam;
  const auto s = kit::solve_honestly<V>(coo<double>{}, host_array<V>(0), this->options());
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TYPED_TEST(direct, says_which_column_makes_a_matrix_singular) {
  using V = TypeParam;
  const auto a = kit::from_function(5, [](index_t i, index_t j) { return j == 2 ? 0.0 : i == j ? 1.0 : 0.0; });
  const auto s = kit::solve_honestly<V>(a, host_array<V>(5, V(1)), this->options());
  EXPECT_EQ(s.report.why, status::singular);
  EXPECT_NE(s.report.message.find("column 3"), std::string::npos) << s.report.message;
}

TEST(direct_estimates, bound_the_error_of_hilbert_matrices_and_warn) {
  for (const index_t n : {4, 8, 11, 13}) {
    const auto a = kit::hilbert(n);
    const host_array<double> ones(n, 1.0);
    auto o = direct<double>::options(1e-10);
    o.precond = "lu:dense";
    const auto s = kit::solve_honestly<double>(a, kit::times(a, ones), o);
    ASSERT_EQ(s.report.why, status::converged) << n << ": " << s.report.message;
    double error = 0;
    for (const double v : s.x) error = std::max(error, std::abs(v - 1));
    EXPECT_GE(s.report.error_estimate, 0.3 * error) << n;
    EXPECT_LE(s.report.error_estimate, 1e5 * error + 1e-12) << n; // the bound is not idle
    EXPECT_EQ(s.report.warning.empty(), s.report.error_estimate <= 0.01) << n;
    EXPECT_EQ(s.report.warning.empty(), n < 11) << n << ": " << s.report.error_estimate;
  }
}

TEST(direct_estimates, take_bad_scaling_for_what_it_is) {
  auto a = generate("poisson2d:10").a;
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = std::ldexp(a.val[k], int(a.row[k] % 9) * 20 - 80);
  const host_array<double> ones(100, 1.0);
  const auto s = kit::solve_honestly<double>(a, kit::times(a, ones), direct<double>::options());
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.condition_estimate, 1e40);
  EXPECT_LT(s.report.error_estimate, 1e-10);
  for (const double v : s.x) ASSERT_NEAR(v, 1, 1e-12);
}

/// Elements of x of 2^-80 to 2^80, each right to its last digits.
TEST(direct_estimates, take_unknowns_in_units_of_their_own_for_what_they_are) {
  auto a = generate("poisson2d:10").a;
  host_array<double> x(100);
  const auto unit = [](index_t j) { return std::ldexp(1, int(j % 9) * 20 - 80); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] /= unit(a.col[k]);
  for (index_t j = 0; j < 100; ++j) x[j] = unit(j);
  const auto s = kit::solve_honestly<double>(a, kit::times(a, x), direct<double>::options());
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.condition_estimate, 1e40);
  EXPECT_LT(s.report.error_estimate, 1e-8);
  EXPECT_TRUE(s.report.warning.empty()) << s.report.warning;
  for (index_t j = 0; j < 100; ++j) ASSERT_NEAR(s.x[j] / x[j], 1, 1e-12);
}

/// Unit lower triangle, whose condition number is 3e31: pivots that are the largest of their columns leave one of
/// rounding for the last.
coo<double> steep_triangle() {
  const double under[6][6] = {{-1}, {-2, 4}, {-3, 3, -2}, {-4, 2, -3, 3}, {-5, 1, -4, 2, -3}, {-6, 0, -5, 1, -4, 2}};
  return kit::from_function(7, [&](index_t i, index_t j) { return i == j ? 1 : i > j ? 1e4 * under[i - 1][j] : 0.0; });
}

/// Beside a block that makes no triangle of it.
TEST(direct_estimates, doubt_what_a_pivot_of_rounding_tells) {
  const auto triangle = steep_triangle();
  auto entries = std::vector<kit::triplet>{{7, 7, 2}, {7, 8, 1}, {8, 7, 1}, {8, 8, 2}};
  for (index_t k = 0; k < triangle.nnz(); ++k) entries.push_back({triangle.row[k], triangle.col[k], triangle.val[k]});
  const auto a = kit::assemble({9, 9}, std::move(entries));
  host_array<double> b(9, 0.0);
  b[6] = 1;
  for (const char* spec : {factors, "lu:dense", "lu:band"}) {
    auto o = direct<double>::options(1e-8);
    o.precond = spec;
    const auto s = kit::solve_honestly<double>(a, b, o);
    const bool off = std::abs(s.x[6] - 1) > 0.01;
    EXPECT_TRUE(off || spec == std::string_view("lu:band")) << spec; // whose pivots stay; else the test says nothing
    if (!off) continue;
    EXPECT_GT(s.report.error_estimate, 1) << spec;
    EXPECT_NE(s.report.warning, "") << spec;
  }
}

TEST(direct_refinement, solves_a_triangle_by_substitution_where_pivots_leave_x_in_doubt) {
  const auto triangle = steep_triangle();
  std::vector<kit::triplet> entries; // in no order
  for (index_t k = 0; k < triangle.nnz(); ++k)
    entries.push_back({(3 * triangle.row[k] + 1) % 7, (5 * triangle.col[k] + 2) % 7, triangle.val[k]});
  const auto mixed = kit::assemble({7, 7}, std::move(entries));
  for (const char* spec : {factors, "lu:dense", "lu:band"}) {
    auto o = direct<double>::options(1e-8);
    o.precond = spec;
    host_array<double> b(7, 0.0);
    b[(3 * 6 + 1) % 7] = 1;
    const auto s = kit::solve_honestly<double>(mixed, b, o);
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    for (index_t j = 0; j < 7; ++j) ASSERT_NEAR(s.x[j], j == (5 * 6 + 2) % 7 ? 1 : 0, 1e-10) << spec;
    EXPECT_EQ(s.report.warning, "") << spec;
    EXPECT_LT(s.report.error_estimate, 1e-6) << spec;
    b = host_array<double>(7, 0.0);
    b[1] = 1; // whose x grows to 1e22, beside which rounding is more than b: pivots have a small residual, and a doubt
    const auto other = kit::solve_honestly<double>(mixed, b, o).report;
    EXPECT_EQ(other.warning.empty(), other.why != status::converged) << spec;
  }
}

/// -0.1, 1, 100 beside the diagonal: a condition number of 1e13.
TEST(direct_refinement, leaves_a_first_guess_of_small_residual_that_is_far_off) {
  const auto a = kit::from_function(9, [](index_t i, index_t j) {
    return i == j ? 1.0 : i + 1 == j ? 100.0 : j + 1 == i ? -0.1 : 0.0;
  });
  const auto b = kit::times(a, host_array<double>(9, 1.0));
  auto o = direct<double>::options(1e-8);
  auto beside = host_array<double>(b);
  beside[8] += 1e-6;
  const auto guess = kit::solve_honestly<double>(a, beside, o).x;
  EXPECT_GT(std::abs(guess[0] - 1), 10);
  const auto s = kit::solve_honestly<double>(a, b, o, host_array<double>(guess));
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.iterations, 1);
  EXPECT_EQ(s.report.message, "converged in 1 iteration");
  EXPECT_EQ(s.report.history.size(), 2u);
  EXPECT_LT(s.report.relative_residual, 1e-14);
  EXPECT_LT(s.report.error_estimate, 1e-2);
  EXPECT_EQ(s.report.warning, "");
  for (const double v : s.x) EXPECT_NEAR(v, 1, 1e-3);
}

/// D L D with D = 1e-4 to 1e4, and a guess from which one correction does not lead to x.
TEST(direct_estimates, are_not_those_of_a_guess_far_off) {
  auto a = generate("poisson2d:16").a;
  const index_t n = a.shape.rows;
  const auto size = [](index_t i) { return std::pow(10.0, double(i * 5 % 9) - 4); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= size(a.row[k]) * size(a.col[k]);
  auto x = kit::random_vector<double>(n, 4);
  for (double& v : x) v += 2;
  auto guess = kit::random_vector<double>(n, 5);
  for (double& v : guess) v *= 1e12;
  const auto s = kit::solve_honestly<double>(a, kit::times(a, x), direct<double>::options(1e-8), std::move(guess));
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  double error = 0;
  for (index_t i = 0; i < n; ++i) error = std::max(error, std::abs(s.x[i] - x[i]) / 3);
  EXPECT_LT(error, 1e-6);
  EXPECT_GT(s.report.error_estimate, error);
  EXPECT_LT(s.report.error_estimate, 1e-2);
  EXPECT_EQ(s.report.warning, "");
}

TYPED_TEST(direct, keeps_a_first_guess_that_is_right) {
  using V = TypeParam;
  const auto a = generate("poisson2d:10").a;
  const auto b = kit::random_vector<V>(100, 4);
  const auto first = kit::solve_honestly<V>(a, b, this->options());
  const auto again = kit::solve_honestly<V>(a, b, this->options(), host_array<V>(first.x));
  ASSERT_EQ(again.report.why, status::converged) << again.report.message;
  EXPECT_EQ(again.report.iterations, 0);
  EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
  EXPECT_GT(again.report.error_estimate, 0);
  EXPECT_LT(again.report.error_estimate, sizeof(V) == 8 ? 1e-12 : 1e-4);
  EXPECT_EQ(again.report.warning, "");
}

TEST(direct_estimates, warn_of_a_first_guess_as_well) {
  const auto a = kit::hilbert(13);
  const host_array<double> ones(13, 1.0);
  auto o = direct<double>::options(1e-10);
  o.precond = "lu:dense";
  const auto s = kit::solve_honestly<double>(a, kit::times(a, ones), o, host_array<double>(ones));
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.error_estimate, 0.01);
  EXPECT_NE(s.report.warning, "");
}

TEST(direct_refinement, mends_factors_of_a_matrix_nearby) {
  const auto a = generate("convection2d:20:5").a;
  solve_options o = direct<double>::options(1e-10);
  o.precond = "ilut:30:1e-3";
  const auto s = kit::solve_honestly<double>(a, kit::random_vector<double>(a.shape.rows, 2), o);
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.iterations, 2);
  EXPECT_EQ(s.report.condition_estimate, 0); // incomplete factors know nothing of A
}

TEST(direct_refinement, says_so_where_the_preconditioner_is_no_inverse) {
  const auto a = generate("convection2d:20:100").a;
  solve_options o = direct<double>::options();
  o.precond = "none";
  const auto s = kit::solve_honestly<double>(a, kit::random_vector<double>(a.shape.rows, 2), o);
  EXPECT_EQ(s.report.why, status::diverged) << s.report.message;
}

/// b is 1e-9 of |A| |x|, and each x of the refinement off by another rounding: no growth of what the guess began with.
TEST(direct_refinement, takes_rounding_above_a_lucky_guess_for_what_it_is) {
  const auto a = kit::laplacian(30, 30, 1, true, 1e-7);
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto guess = kit::random_vector<double>(900, seed);
    for (double& v : guess) v = 1 + 1e-9 * v;
    const auto b = kit::times(a, guess);
    guess[17] *= 1 + 2.2e-16;
    const auto s = kit::solve_honestly<double>(a, b, direct<double>::options(), host_array<double>(guess));
    EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
    EXPECT_NE(s.report.message.find("rounding limits"), std::string::npos) << s.report.message;
    EXPECT_LT(s.report.relative_residual, 1e-6);
  }
}

TEST(direct_refinement, does_not_blame_rounding_for_what_the_preconditioner_leaves) {
  const auto a = kit::diagonal({1, 2.05}); // I - A: the first error is gone at once, the other one grows by 5 %
  solve_options o = direct<double>::options();
  o.precond = "none";
  const auto s = kit::solve_honestly<double>(a, host_array<double>{1, 0.1}, o);
  EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
  EXPECT_NE(s.report.message.find("too far from the inverse of the matrix"), std::string::npos) << s.report.message;
  EXPECT_EQ(s.report.message.find("tolerance"), std::string::npos) << s.report.message;
}

TYPED_TEST(direct, keeps_its_factors_and_has_the_same_bits_for_any_number_of_threads) {
  using V = TypeParam;
  const auto given = generate("convection2d:40:10").a;
  const auto b = kit::random_vector<V>(given.shape.rows, 11);
  const int before = threads();
  host_array<V> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    solver<V> kept(kit::as_precision<V>(given), this->options(1e-4));
    for (int time = 0; time < 2; ++time) {
      host_array<V> x(b.size(), V(0));
      const auto report = kept.solve(as_cview(b), as_view(x));
      ASSERT_EQ(report.why, status::converged) << report.message;
      EXPECT_EQ(report.setup_seconds > 0, time == 0);
      if (first.empty()) first = std::move(x);
      else {
        EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(x))) << count;
      }
    }
  }
  set_threads(before);
}

} // namespace
} // namespace furrow
