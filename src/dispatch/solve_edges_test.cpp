// SPDX-License-Identifier: BSD-3-Clause
// Edges of sizes and magnitudes, first guesses, histories.
#include "solve_test_kit.hpp"

namespace furrow {
namespace {

using namespace solve_test;

TEST(edge, a_zero_right_hand_side_has_the_answer_zero) {
  const auto s = kit::solve_honestly(kit::laplacian(10), host_array<double>(10, 0.0), {}, ones(10));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_EQ(s.report.iterations, 0);
  EXPECT_EQ(s.report.relative_residual, 0);
  for (const double v : s.x) EXPECT_EQ(v, 0);
}

TEST(edge, an_exact_first_guess_takes_no_iteration) {
  const auto a = kit::laplacian(10, 10);
  const auto s = kit::solve_honestly(a, kit::times(a, ones(100)), {}, ones(100));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_EQ(s.report.iterations, 0);
  EXPECT_EQ(s.report.history.size(), 1u);
}

TEST(edge, a_good_first_guess_saves_iterations) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 4);
  const auto cold = kit::solve_honestly(a, b, with("jacobi", 1e-8));
  const auto warm = kit::solve_honestly(a, b, with("jacobi", 1e-10), cold.x);
  EXPECT_EQ(warm.report.why, status::converged);
  EXPECT_LT(warm.report.iterations, cold.report.iterations);
}

TEST(edge, one_by_one_and_nothing_at_all) {
  const auto one = kit::solve_honestly(kit::diagonal({4}), host_array<double>{8});
  EXPECT_EQ(one.report.why, status::converged);
  EXPECT_EQ(one.x[0], 2);
  const auto none = kit::solve_honestly(kit::assemble({0, 0}, {}), host_array<double>{});
  EXPECT_EQ(none.report.why, status::converged);
}

TEST(edge, magnitudes_of_b) {
  const auto a = kit::laplacian(15, 15);
  for (const double size : {1e200, 1e-200, 1e-300, 1e-307, 5e-324, 1.0}) {
    auto b = kit::random_vector<double>(225, 6);
    for (double& v : b) v *= size;
    const auto s = kit::solve_honestly(a, b, with("jacobi"));
    if (size < 1e-300) { // what the answer loses as a subnormal number shows in its residual, and is said
      EXPECT_TRUE(s.report.why == status::stagnated || s.report.why == status::converged) << s.report.message;
      EXPECT_LE(s.report.relative_residual, size < 1e-320 ? 10 : 1e-10) << size;
      continue;
    }
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
  }
  for (const float size : {1e30f, 1e-30f}) {
    auto b = kit::random_vector<float>(225, 6);
    for (float& v : b) v *= size;
    const auto s = kit::solve_honestly<float>(a, b, with("jacobi", 1e-5));
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
  }
}

TEST(edge, an_answer_beyond_the_range_is_no_answer) {
  const auto large = kit::solve_honestly(kit::diagonal({1e-20, 1e-20}), host_array<double>{1e300, 1e300}, with("none"));
  EXPECT_EQ(large.report.why, status::nan) << large.report.message;
  const auto small = kit::solve_honestly(kit::diagonal({1e20, 1e20}), host_array<double>{1e-310, 1e-310}, with("none"));
  EXPECT_EQ(small.report.why, status::stagnated) << small.report.message;
  EXPECT_NEAR(small.report.relative_residual, 1, 1e-12);
}

TEST(edge, atol_means_what_it_says_for_a_right_hand_side_that_is_scaled) {
  const auto a = kit::laplacian(15, 15);
  for (const double size : {1e150, 1e-150, 1.0}) {
    auto b = kit::random_vector<double>(225, 6);
    for (double& v : b) v *= size;
    solve_options o;
    o.rtol = 0;
    o.atol = 1e-6 * size;
    const auto s = kit::solve_honestly(a, b, o);
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
    EXPECT_GT(s.report.iterations, 5) << size;
    EXPECT_LT(s.report.iterations, 100) << size;
  }
}

TEST(edge, history_can_be_left_out) {
  auto o = with("jacobi");
  o.history = false;
  EXPECT_TRUE(kit::solve_honestly(kit::laplacian(30), ones(30), o).report.history.empty());
}

TEST(edge, history_is_longer_than_the_ring_beside_the_vectors) {
  auto o = with("none", 1e-12);
  o.max_iterations = 100000;
  const auto s = kit::solve_honestly(kit::laplacian(6000), kit::random_vector<double>(6000, 2), o);
  EXPECT_GT(s.report.iterations, 5000);
  for (const double h : s.report.history) ASSERT_TRUE(std::isfinite(h) && h >= 0);
}

} // namespace
} // namespace furrow
