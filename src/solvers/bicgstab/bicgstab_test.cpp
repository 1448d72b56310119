// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

constexpr auto* bicgstab_name = "bicgstab";
template <class V> struct bicgstab : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(bicgstab, precisions);

TYPED_TEST(bicgstab, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>(bicgstab_name); }

TEST(bicgstab_iterations, are_those_of_the_textbook) {
  // The textbook takes as many until its recurrence is small, which for the first of them is not yet the truth.
  kit::check_steps(bicgstab_name, "convection2d:60:100", 98, 15);
  kit::check_steps(bicgstab_name, "convection2d:60:1", 103, 15);
  kit::check_steps(bicgstab_name, "poisson2d:60", 99, 15);
}

TYPED_TEST(bicgstab, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(bicgstab_name, "convection2d:120:10");
}

TYPED_TEST(bicgstab, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>(bicgstab_name);
}

/// r~'A r = 0 where r~ is r, and t's = 0 in every step: neither another r~ nor an omega of its own length would do.
TYPED_TEST(bicgstab, solves_skew_matrices) {
  using V = TypeParam;
  for (const index_t n : {2, 6}) {                                  // of more rows `bicgstab2` is the method
    const auto a = kit::from_function(n, [](index_t i, index_t j) { // pairs, and a little between them
      return i / 2 == j / 2 ? double(j - i) : j == i + 2 ? 0.1 : i == j + 2 ? -0.1 : 0.0;
    });
    const auto expected = kit::random_vector<V>(n, 4);
    const auto s = kit::solve_honestly<V>(a, kit::times<V>(a, expected), kit::solver_options<V>(bicgstab_name, "none"));
    EXPECT_EQ(s.report.why, status::converged) << n << ": " << s.report.message;
    for (index_t i = 0; i < n; ++i) EXPECT_NEAR(s.x[i], expected[i], sizeof(V) == 8 ? 1e-8 : 1e-2);
  }
}

TEST(bicgstab_iterations, are_no_more_for_strong_convection) {
  kit::check_steps(bicgstab_name, "convection2d:60:1000", 95, 15);  // 116 with omega as it is
  kit::check_steps(bicgstab_name, "convection2d:100:300", 168, 30); // 207 to 215
}

TYPED_TEST(bicgstab, breaks_down_with_a_sentence) {
  using V = TypeParam;
  // A r = 0 in the first step, and in every one that starts again.
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}});
  const auto s = kit::solve_honestly<V>(a, host_array<V>{1, 0}, kit::solver_options<V>(bicgstab_name, "none"));
  EXPECT_EQ(s.report.why, status::breakdown) << s.report.message;
  EXPECT_NE(s.report.message.find("r~'Ap"), std::string::npos) << s.report.message;
  EXPECT_NEAR(s.report.relative_residual, 1, 1e-14);
}

TYPED_TEST(bicgstab, costs_what_its_header_says) {
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "none", false, 4);
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "jacobi", false, 4);
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "jacobi", true, 6);
}

} // namespace
} // namespace furrow
