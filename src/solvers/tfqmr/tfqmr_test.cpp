// SPDX-License-Identifier: BSD-3-Clause
#include "tfqmr.hpp"

#include "kit/method_check.hpp"

#include <furrow/generate.hpp>
#include <furrow/solve.hpp>

namespace furrow {
namespace {

constexpr auto* tfqmr_name = "tfqmr";
template <class V> struct tfqmr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(tfqmr, precisions);

TYPED_TEST(tfqmr, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>(tfqmr_name); }

TEST(tfqmr_iterations, are_those_of_the_textbook) {
  // The textbook takes 95, 82 and 99, each of two products, until its recurrence is small.
  struct {
    const char* spec;
    double rtol, expected;
  } cases[] = {{"poisson2d:60", 1e-10, 95}, {"convection2d:60:1", 1e-4, 82}, {"convection2d:60:1", 1e-8, 99}};
  for (const auto& [spec, rtol, expected] : cases) {
    const auto a = generate(spec).a;
    auto o = kit::solver_options<double>(tfqmr_name, "none", rtol);
    o.format = "csr";
    const auto s = kit::solve_honestly<double>(a, kit::times(a, host_array<double>(a.shape.rows, 1.0)), o);
    EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
    EXPECT_NEAR(double(s.report.iterations), expected, 0.2 * expected) << spec;
    EXPECT_EQ(s.report.restarts, 0) << spec;
  }
}

TYPED_TEST(tfqmr, carries_the_residual_of_x) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("convection2d:20:5").a);
  const auto b = kit::random_vector<V>(a.shape.rows, 8);
  for (const char* m : {"none", "jacobi", "ilu"}) {
    auto o = kit::solver_options<V>(tfqmr_name, m);
    index_t seen = 0;
    o.monitor = [&](const progress& p, cview<double> x) {
      host_array<V> at(x.size);
      std::transform(x.begin(), x.end(), at.begin(), [](double v) { return static_cast<V>(v); });
      const auto truth = kit::true_residual(a, as_cview(b), as_cview(at));
      const double relative = static_cast<double>(truth.norm / truth.norm_b);
      EXPECT_NEAR(p.relative_residual, relative, 1e-2 * relative + (sizeof(V) == 8 ? 1e-12 : 1e-5)) << m;
      ++seen;
      return true;
    };
    host_array<V> x(b.size(), V(0));
    EXPECT_EQ(solve(a, as_cview(b), as_view(x), o).why, status::converged) << m;
    EXPECT_GT(seen, 3) << m;
  }
}

/// The most by which a residual is above one before it.
double leap(const std::vector<double>& history) {
  double least = history.front(), most = 1;
  for (const double r : history) {
    least = std::min(least, r);
    most = std::max(most, r / least);
  }
  return most;
}

TEST(tfqmr_residuals, leap_less_than_those_of_bicgstab) {
  const auto a = generate("convection2d:60:1").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 6);
  auto o = kit::solver_options<double>(tfqmr_name, "none", 1e-6);
  o.history = true;
  const auto s = kit::solve_honestly<double>(a, b, o);
  o.solver = "bicgstab";
  const auto other = kit::solve_honestly<double>(a, b, o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_LT(leap(s.report.history), 4);
  EXPECT_GT(leap(other.report.history), 2 * leap(s.report.history));
}

TEST(tfqmr_breakdown, starts_again_where_the_shadow_is_lost) {
  // r~'w = 0 behind the first step: (I - A)^2 e_1 = e_3 - e_2.
  const auto a = kit::assemble({3, 3}, {{0, 0, 1}, {0, 2, 1}, {1, 0, 1}, {2, 1, 1}});
  const auto s =
      kit::solve_honestly<double>(a, host_array<double>{1, 0, 0}, kit::solver_options<double>(tfqmr_name, "none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.restarts, 0);
}

TYPED_TEST(tfqmr, says_why_it_cannot) {
  using V = TypeParam;
  const auto report = [&](const coo<double>& a) {
    return kit::solve_honestly<V>(a, host_array<V>{1, 2}, kit::solver_options<V>(tfqmr_name, "none")).report;
  };
  // r~'A r = 0 in the first step, and in every one that starts again.
  const auto turned = report(kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}}));
  EXPECT_EQ(turned.why, status::breakdown) << turned.message;
  EXPECT_NE(turned.message.find("r~'v"), std::string::npos) << turned.message;
  EXPECT_NEAR(turned.relative_residual, 1, 1e-14);
  EXPECT_EQ(report(kit::assemble({2, 2}, {})).why, status::singular);
  if (sizeof(V) == 8) {
    EXPECT_EQ(report(kit::diagonal({1e200, 1})).why, status::nan);
  }
}

TYPED_TEST(tfqmr, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>(tfqmr_name);
}

TYPED_TEST(tfqmr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(tfqmr_name, "convection2d:120:10");
}

TYPED_TEST(tfqmr, costs_what_its_header_says) {
  kit::check_cost<tfqmr_method, TypeParam>("convection2d:40:1", "none", false, 6);
  kit::check_cost<tfqmr_method, TypeParam>("convection2d:40:1", "jacobi", false, 6);
  kit::check_cost<tfqmr_method, TypeParam>("convection2d:40:1", "jacobi", true, 8);
}

} // namespace
} // namespace furrow
