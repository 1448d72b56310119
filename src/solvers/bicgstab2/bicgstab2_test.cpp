// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab2.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

constexpr auto* bicgstab2_name = "bicgstab2";
template <class V> struct bicgstab2 : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(bicgstab2, precisions);

/// I and a skew part: eigenvalues 1 + 2 i c cos(..), far off the real axis.
coo<double> skew(index_t n, double c) {
  return kit::from_function(n, [&](index_t i, index_t j) {
    return i == j ? 1.0 : j == i + 1 ? c : j + 1 == i ? -c : 0.0;
  });
}

TYPED_TEST(bicgstab2, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>(bicgstab2_name); }

TYPED_TEST(bicgstab2, converges_where_bicgstab_does_not) {
  using V = TypeParam;
  const auto a = skew(400, 20);
  const auto b = kit::random_vector<V>(400, 8);
  auto o = kit::solver_options<V>(bicgstab2_name, "none", 1e-3);
  o.max_iterations = 600;
  const auto two = kit::solve_honestly<V>(a, b, o);
  EXPECT_EQ(two.report.why, status::converged) << two.report.message;
  o.solver = "bicgstab";
  o.max_iterations = 1200;
  const auto one = kit::solve_honestly<V>(a, b, o);
  EXPECT_NE(one.report.why, status::converged) << one.report.message;
}

TYPED_TEST(bicgstab2, solves_a_skew_matrix_in_one_step) {
  using V = TypeParam; // r~'A r = 0: no step of BiCG, but one of the polynomial
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}});
  const auto s = kit::solve_honestly<V>(a, host_array<V>{1, 2}, kit::solver_options<V>(bicgstab2_name, "none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.iterations, 1);
}

TEST(bicgstab2_iterations, are_those_of_the_textbook) {
  // Steps until the recurrence is small; for the first of them the residual itself is 3e-8 then.
  kit::check_steps(bicgstab2_name, "convection2d:60:100", 61, 12);
  kit::check_steps(bicgstab2_name, "convection2d:60:1", 55, 12);
  kit::check_steps(bicgstab2_name, "poisson2d:60", 45, 12);
}

TEST(bicgstab2_starts, take_another_shadow_where_the_last_one_was_lost) {
  const auto a = generate("convection2d:60:100").a;
  auto o = kit::solver_options<double>(bicgstab2_name, "none", 1e-10);
  o.format = "dia"; // by whose rounding r~'r is 0 at the second start, and was at each that followed
  const auto s = kit::solve_honestly<double>(a, kit::times(a, host_array<double>(a.shape.rows, 1.0)), o);
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TYPED_TEST(bicgstab2, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(bicgstab2_name, "convection2d:120:10");
}

TYPED_TEST(bicgstab2, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>(bicgstab2_name);
}

TYPED_TEST(bicgstab2, takes_another_shadow_where_the_residual_is_none) {
  using V = TypeParam;
  // A shift around a ring: r is orthogonal to A r and A A r.
  const auto ring = kit::from_function(12, [](index_t i, index_t j) { return j == (i + 1) % 12 ? 1.0 : 0.0; });
  host_array<V> b(12, V(0));
  b[0] = 1;
  const auto s = kit::solve_honestly<V>(ring, b, kit::solver_options<V>(bicgstab2_name, "none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.restarts, 0);
}

TYPED_TEST(bicgstab2, says_singular_with_a_sentence) {
  using V = TypeParam;
  for (const auto& a : {kit::assemble({2, 2}, {{0, 1, 1}}), kit::assemble({2, 2}, {{0, 0, 1}})}) {
    const auto s = kit::solve_honestly<V>(a, host_array<V>{1, 2}, kit::solver_options<V>(bicgstab2_name, "none"));
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_NE(s.report.message.find("(A M)^2"), std::string::npos) << s.report.message;
    EXPECT_LT(s.report.relative_residual, 1);
  }
}

TEST(bicgstab2_guards, say_what_vanishes) {
  using namespace bicgstab2_steps;
  double s[control::own_slot + slot_count] = {};
  const auto set = [&](double next) {
    std::fill(std::begin(s), std::end(s), 1.0);
    s[rho_next] = next;
  };
  const judge j{s};
  set(1e-15);
  EXPECT_EQ(j.before(), control::running);
  EXPECT_EQ(j.after(), control::running);
  EXPECT_EQ(s[rho], 1e-15);
  set(0);
  EXPECT_EQ(j.after(), lost_shadow);
  EXPECT_NE(bicgstab2_messages::explain(lost_shadow, s, false)->sentence({}).find("r~'r = 0.000e+00"),
            std::string::npos);
  EXPECT_FALSE(bicgstab2_messages::explain(lost_shadow, s, true));
  s[sigma] = 0;
  EXPECT_EQ(j.after(), lost_direction);
  EXPECT_NE(bicgstab2_messages::explain(lost_direction, s, false)->sentence({}).find("r~'AMu = 0.000e+00"),
            std::string::npos);
}

TEST(bicgstab2_overflow, is_said) {
  const auto s = kit::solve_honestly<double>(kit::diagonal({1e200, 1}), {1, 1},
                                             kit::solver_options<double>(bicgstab2_name, "none"));
  EXPECT_EQ(s.report.why, status::nan) << s.report.message;
  EXPECT_NE(s.report.message.find("overflow"), std::string::npos) << s.report.message;
}

TYPED_TEST(bicgstab2, costs_what_its_header_says) {
  kit::check_cost<bicgstab2_method, TypeParam>("convection2d:40:1", "none", false, 9);
  kit::check_cost<bicgstab2_method, TypeParam>("convection2d:40:1", "jacobi", false, 9);
  kit::check_cost<bicgstab2_method, TypeParam>("convection2d:40:1", "jacobi", true, 13);
}

} // namespace
} // namespace furrow
