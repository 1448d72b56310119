// SPDX-License-Identifier: BSD-3-Clause
#include "idr.hpp"

#include "kit/method_check.hpp"
#include "kit/said_by.hpp"

#include <furrow/generate.hpp>

namespace furrow {
namespace {

template <class V> struct idr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(idr, precisions);

TYPED_TEST(idr, solves_matrices_without_symmetry) {
  for (const char* solver : {"idr", "idr:1", "idr:2", "idr:16"}) kit::check_lopsided_systems<TypeParam>(solver);
}

TEST(idr_iterations, are_those_of_the_textbook) {
  struct expectation {
    const char *spec, *solver;
    index_t cycles;
  };
  // Cycles, with other shadow vectors, and with other rounding by some more: 59 to 60, 18 to 19, 9 to 10; 87 to 91, 30
  // to 32, 17.
  const expectation cases[] = {{"convection2d:60:100", "idr:1", 60}, {"convection2d:60:100", "idr", 18},
                               {"convection2d:60:100", "idr:8", 10}, {"convection2d:60:1", "idr:1", 89},
                               {"convection2d:60:1", "idr:4", 31},   {"convection2d:60:1", "idr:8", 17}};
  for (const auto& [spec, solver, cycles] : cases) {
    const auto a = generate(spec).a;
    auto o = kit::solver_options<double>(solver, "none");
    o.format = "csr";
    const auto s = kit::solve_honestly<double>(a, kit::times(a, host_array<double>(a.shape.rows, 1.0)), o);
    EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
    EXPECT_NEAR(double(s.report.iterations), double(cycles), 2 + double(cycles) / 6) << spec << ", " << solver;
    EXPECT_EQ(s.report.restarts, 0) << spec;
  }
}

TYPED_TEST(idr, takes_at_most_n_over_s_cycles_and_one) {
  using V = TypeParam;
  const auto a = kit::lopsided(12, 9);
  auto o = kit::solver_options<V>("idr:4", "none", sizeof(V) == 8 ? 1e-8 : 1e-3);
  const auto s = kit::solve_honestly<V>(a, kit::random_vector<V>(12, 5), o);
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_LE(s.report.iterations, 4);
}

TEST(idr_restart, follows_a_lost_direction) { // a rotation: A r is orthogonal to r, the one shadow vector
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}});
  const auto b = shadow_vector<double>(2, 0, 0);
  const auto s = kit::solve_honestly<double>(a, b, kit::solver_options<double>("idr:1", "none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GE(s.report.restarts, 1);
}

TYPED_TEST(idr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>("idr", "convection2d:120:10");
}

TYPED_TEST(idr, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>("idr");
}

TYPED_TEST(idr, stops_at_the_limit) {
  using V = TypeParam;
  const auto a = generate("convection2d:30:5").a;
  auto o = kit::solver_options<V>("idr", "none");
  o.max_iterations = 3;
  const auto s = kit::solve_honestly<V>(a, kit::random_vector<V>(a.shape.rows, 2), o);
  EXPECT_EQ(s.report.why, status::max_iterations) << s.report.message;
  EXPECT_EQ(s.report.iterations, 3);
}

TYPED_TEST(idr, says_singular_with_a_sentence) {
  using V = TypeParam;
  const auto s = kit::solve_honestly<V>(kit::assemble({3, 3}, {{0, 1, 1}}), host_array<V>{0, 0, 1},
                                        kit::solver_options<V>("idr", "none"));
  EXPECT_EQ(s.report.why, status::singular) << s.report.message;
  EXPECT_NE(s.report.message.find("A M maps"), std::string::npos) << s.report.message;
}

TYPED_TEST(idr, breaks_down_with_a_sentence) {
  using V = TypeParam; // of rank 1: the second direction of each cycle is lost
  const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}});
  const auto s = kit::solve_honestly<V>(a, host_array<V>{1, 3}, kit::solver_options<V>("idr:2", "none"));
  EXPECT_EQ(s.report.why, status::breakdown) << s.report.message;
  EXPECT_NE(s.report.message.find("p'g ="), std::string::npos) << s.report.message;
  EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
}

TEST(idr_overflow, is_said) {
  const auto s =
      kit::solve_honestly<double>(kit::diagonal({1e200, 1}), {1, 1}, kit::solver_options<double>("idr", "none"));
  EXPECT_EQ(s.report.why, status::nan) << s.report.message;
  EXPECT_NE(s.report.message.find("overflow"), std::string::npos) << s.report.message;
}

TEST(idr_parameters, are_checked) {
  const auto a = kit::laplacian(4);
  for (const char* solver : {"idr:0", "idr:17", "idr:x", "idr:3:4"}) {
    const host_array<double> b(4, 1.0);
    host_array<double> x(4, 0.0);
    EXPECT_NE(kit::said_by(fault::usage,
                           [&] { solve(a, as_cview(b), as_view(x), kit::solver_options<double>(solver, "none")); }),
              "")
        << solver;
  }
}

TYPED_TEST(idr, costs_what_its_header_says) {
  kit::check_cost<idr_method, TypeParam>("convection2d:40:1", "none", false, 27, "4");
  kit::check_cost<idr_method, TypeParam>("convection2d:40:1", "jacobi", false, 28, "4");
  kit::check_cost<idr_method, TypeParam>("convection2d:40:1", "jacobi", true, 32, "4");
}

} // namespace
} // namespace furrow
