// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "kit/method_check.hpp"

#include <furrow/generate.hpp>

namespace furrow {
namespace {

constexpr auto* name = "bicgstab";
template <class V> struct bicgstab : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(bicgstab, precisions);

TYPED_TEST(bicgstab, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>(name); }

TEST(bicgstab_iterations, are_those_of_the_textbook) {
  // The textbook takes as many until its recurrence is small, which for the first of them is not yet the truth.
  kit::check_steps(name, "convection2d:60:100", 98, 15);
  kit::check_steps(name, "convection2d:60:1", 103, 15);
  kit::check_steps(name, "poisson2d:60", 99, 15);
}

TYPED_TEST(bicgstab, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(name, "convection2d:120:10");
}

TYPED_TEST(bicgstab, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>(name);
}

TYPED_TEST(bicgstab, breaks_down_with_a_sentence) {
  using V = TypeParam;
  // r~'A r = 0 in the first step, and in every one that starts again.
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}});
  const auto s = kit::solve_honestly<V>(a, host_array<V>{1, 2}, kit::solver_options<V>(name, "none"));
  EXPECT_EQ(s.report.why, status::breakdown) << s.report.message;
  EXPECT_NE(s.report.message.find("r~'Ap"), std::string::npos) << s.report.message;
  EXPECT_EQ(s.report.relative_residual, 1);
}

TYPED_TEST(bicgstab, costs_what_its_header_says) {
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "none", false, 5);
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "jacobi", false, 5);
  kit::check_cost<bicgstab_method, TypeParam>("convection2d:40:1", "jacobi", true, 7);
}

} // namespace
} // namespace furrow
