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

/// Chunks of steps end by the clock, and here at every step of a watcher: neither may decide which x is kept as the
/// best one, and with it what is handed back of a solve that ends early, and the estimate of the error.
TEST(edge, what_is_handed_back_does_not_depend_on_how_it_is_watched) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 5);
  for (index_t limit = 20; limit < 140; ++limit) { // the last ones converge
    auto o = with("none", 1e-12);
    o.solver = "bicgstab"; // whose residual jumps
    o.max_iterations = limit;
    const auto alone = kit::solve_honestly(a, b, o);
    o.watch = [](const progress&) { return true; };
    o.watch_every = 1;
    const auto watched = kit::solve_honestly(a, b, o);
    EXPECT_EQ(alone.report.error_estimate, watched.report.error_estimate) << limit;
    for (index_t i = 0; i < 900; ++i) ASSERT_EQ(alone.x[i], watched.x[i]) << limit << ", row " << i;
  }
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

TEST(edge, converged_is_proved_where_the_squares_of_x_vanish) {
  // |A| is 1e216 and x 1e-186: u |A| |x| is far above the goal, and x'x is 0 in double.
  const index_t n = 20;
  index_t converged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto r = kit::random_vector<double>(n * n + n, seed);
    const auto size = [&](index_t i) { return std::pow(10.0, 100 + 8 * r[n * n + i]); };
    const auto a = kit::from_function(n, [&](index_t i, index_t j) {
      double sum = i == j ? 1 : 0;
      for (index_t k = 0; k < n; ++k)
        if (std::abs(r[i * n + k]) > 0.8 && std::abs(r[j * n + k]) > 0.8) sum += r[i * n + k] * r[j * n + k];
      return size(i) * sum * size(j);
    });
    const auto b = kit::random_vector<double>(n, seed + 1000);
    for (const char* method : {"cg", "bicgstab"}) {
      host_array<double> x(n, 0.0);
      solve_options o = with("jacobi", 1e-5);
      o.solver = method;
      const auto report = solve(a, as_cview(b), as_view(x), o);
      if (report.why != status::converged) continue;
      ++converged;
      const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
      EXPECT_LE(truth.norm, 1.001e-5L * truth.norm_b) << seed << " " << method;
    }
  }
  EXPECT_GT(converged, 3);
}

TEST(edge, an_answer_that_vanishes_as_subnormal_numbers_is_never_worse_than_the_first_guess) {
  // Entries from 1 to 1e16, so that a part of x is far below the least number there is.
  const index_t n = 40;
  const auto a = kit::from_function(n, [&](index_t i, index_t j) {
    const double size = std::pow(10.0, double((7 * i) % 9 + (7 * j) % 9));
    return i == j ? 3 * size : std::abs(i - j) == 1 ? size : 0.0;
  });
  for (const char* method : {"cg", "bicgstab", "gmres"})
    for (const index_t most : {index_t(3), index_t(10000)}) {
      auto b = kit::random_vector<double>(n, 6);
      for (double& v : b) v *= 1e-312;
      solve_options o = with("jacobi");
      o.solver = method, o.max_iterations = most;
      host_array<double> x(n, 0.0);
      const auto report = solve(a, as_cview(b), as_view(x), o);
      EXPECT_LE(report.relative_residual, 1.0) << method << most << ": " << report.message;
      for (double& v : b) v *= 0x1p+1000;
      for (double& v : x) v *= 0x1p+1000;
      const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
      EXPECT_NEAR(double(truth.norm / truth.norm_b), report.relative_residual, 1e-6) << method << most;
    }
}

/// c is so large that b - A x is 0 as it is computed, and 0.3 % of b: the residual of the first guess must not be 0 for
/// what follows, which would have grown by any step, and is not what the report says.
TEST(edge, a_first_guess_whose_residual_rounding_hides_is_held_to_the_true_one) {
  const double delta = 1.00000000000001 - 1, c = 1.003 / delta;
  const auto a = kit::assemble({2, 2}, {{0, 0, 1 + delta}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1 + delta}});
  const host_array<double> b(2, 1.0);
  for (const char* method : {"cg", "bicgstab", "gmres", "minres", "lsmr"})
    for (const index_t most : {1, 100}) {
      solve_options o = with("none");
      o.solver = method, o.max_iterations = most;
      host_array<double> x(2, c);
      const auto report = solve(a, as_cview(b), as_view(x), o);
      const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
      EXPECT_NE(report.why, status::diverged) << method << ": " << report.message;
      EXPECT_NEAR(report.relative_residual, double(truth.norm / truth.norm_b),
                  double(truth.rounding / truth.norm_b) + 1e-6)
          << method << ' ' << most << ": " << report.message;
    }
}

/// Solves in f32 what is given in double.
kit::solved<double> in_single_precision(const coo<double>& a, const host_array<double>& b, double rtol = 1e-5) {
  solve_options o = with("jacobi", rtol);
  o.values = precision::f32;
  kit::solved<double> s{{}, host_array<double>(b.size(), 0.0)};
  s.report = solve(a, as_cview(b), as_view(s.x), o);
  return s;
}

TEST(right_hand_side, whose_small_elements_vanish_beside_the_largest_one_is_warned_of) {
  for (const char* solver : {"direct", "cg", "auto"})
    for (const double least : {1e-300, 1e100}) {
      const host_array<double> sizes{1e300, 1e200, least};
      auto o = with("auto");
      o.solver = solver;
      const auto s = kit::solve_honestly(kit::diagonal({1e300, 1e200, least}), sizes, o);
      EXPECT_EQ(s.report.why, status::converged) << s.report.message;
      const bool right = std::abs(s.x[2] - 1) < 1e-9;
      EXPECT_EQ(mentions(s.report.warning, "vanish beside it"), !right) << solver << least << s.report.warning;
      EXPECT_EQ(s.report.error_estimate > 0 && !right, false) << solver << least;
    }
}

TEST(single_precision, solves_a_matrix_of_any_magnitude) {
  for (const double size : {1e-300, 1e-50, 1e-38, 1.0, 1e50, 1e300}) {
    auto a = kit::laplacian(12, 12);
    for (double& v : a.val) v *= size;
    const auto s = in_single_precision(a, kit::times(a, ones(144)));
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
    for (const double v : s.x) ASSERT_NEAR(v, 1, 1e-3) << size;
  }
}

TEST(single_precision, refuses_a_right_hand_side_that_it_cannot_hold) {
  const auto what = [](double b) -> std::string {
    return kit::said_by(fault::input, [&] {
      in_single_precision(kit::diagonal({1, 1}), host_array<double>{b / 2, b});
    });
  };
  EXPECT_TRUE(mentions(what(1e50), "element 1 of b = 5e+49 is too large for single precision")) << what(1e50);
  EXPECT_TRUE(mentions(what(1e-50), "too small for single precision")) << what(1e-50);
  EXPECT_EQ(what(1e20), "");
}

TEST(single_precision, says_converged_of_residuals_beyond_its_rounding) {
  // With tolerances near the unit roundoff the computed residual is often 0 where the true one is not small.
  index_t converged = 0, not_converged = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const index_t n = 1 + index_t(seed % 3);
    const auto r = kit::random_vector<double>(n * n, seed);
    const auto a = kit::from_function(
        n, [&](index_t i, index_t j) { return (i == j ? 3.0 : 0.0) + 0.5 * (r[i * n + j] + r[j * n + i]); });
    const auto b = kit::random_vector<float>(n, seed + 1000);
    for (const double rtol : {1e-7, 3e-8, 1e-8}) {
      const auto narrow = convert_values<float>(coo<double>(a));
      host_array<float> x(n, 0.0F);
      const auto report = solve(narrow, as_cview(b), as_view(x), with("none", rtol));
      const auto truth = kit::true_residual(narrow, as_cview(b), as_cview(x));
      if (report.why == status::converged) {
        EXPECT_LE(truth.norm, rtol * truth.norm_b * (1 + 1e-9L)) << seed;
      }
      (report.why == status::converged ? converged : not_converged) += 1;
    }
  }
  EXPECT_GT(converged, 50);
  EXPECT_GT(not_converged, 50);
}

TEST(edge, a_tolerance_below_the_rounding_of_doubles_is_answered_with_what_can_be_had) {
  index_t not_converged = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const index_t n = 1 + index_t(seed % 4);
    const auto r = kit::random_vector<double>(n * n, seed);
    const auto a = kit::from_function(
        n, [&](index_t i, index_t j) { return (i == j ? 3.0 : 0.0) + 0.5 * (r[i * n + j] + r[j * n + i]); });
    const auto b = kit::random_vector<double>(n, seed + 1000);
    host_array<double> x(n, 0.0);
    const auto report = solve(a, as_cview(b), as_view(x), with("none", 2e-17));
    const auto truth = kit::true_residual(a, as_cview(b), as_cview(x)); // long double: 11 bits more
    if (report.why == status::converged) {
      EXPECT_LE(truth.norm, 2e-17L * truth.norm_b + truth.rounding / 2000) << seed;
      continue;
    }
    ++not_converged;
    EXPECT_EQ(report.why, status::stagnated) << report.message;
    EXPECT_TRUE(mentions(report.message, "ask for a tolerance of")) << report.message;
  }
  EXPECT_GT(not_converged, 20);
}

TEST(edge, the_answer_is_never_worse_than_the_first_guess) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    // Singular, indefinite and definite matrices, right-hand sides in their range and outside.
    const index_t n = 4 + index_t(seed % 9);
    auto a = kit::laplacian(n, 1, 1, true, seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? -0.7 : 1e-14);
    const auto b = kit::random_vector<double>(n, seed);
    for (const bool guess : {false, true})
      for (const char* m : {"none", "jacobi"})
        for (const index_t limit : {0, 3, 200}) {
          auto o = with(m, 1e-12);
          o.max_iterations = limit;
          const auto x0 = guess ? kit::random_vector<double>(n, seed + 50) : host_array<double>(n, 0.0);
          const auto first = kit::true_residual(a, as_cview(b), as_cview(x0));
          const auto s = kit::solve_honestly(a, b, o, x0);
          const auto last = kit::true_residual(a, as_cview(b), as_cview(s.x));
          EXPECT_LE(last.norm, first.norm + last.rounding) << seed << ": " << s.report.message;
        }
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

/// Rows and columns of very different sizes make an x so large that rounding hides how large b - A x is.
TEST(edge, no_x_is_worse_than_the_first_guess_beyond_rounding_either) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const index_t n = 5;
    const auto r = kit::random_vector<double>(n * n, seed), exponents = kit::random_vector<double>(n, seed + 1000);
    const auto a = kit::from_function(n, [&](index_t i, index_t j) {
      return r[i * n + j] * std::pow(10.0, std::round(12 * exponents[i]) + std::round(12 * exponents[j]));
    });
    const auto b = kit::random_vector<double>(n, seed + 2000);
    for (const char* precond : {"ilu", "ilu:1", "auto", "jacobi"})
      for (const char* solver : {"direct", "bicgstab", "gmres"}) {
        solve_options o;
        o.solver = solver, o.precond = precond, o.rtol = 1e-10, o.max_iterations = 50;
        const auto s = kit::solve_honestly<double>(a, b, o);
        const auto truth = kit::true_residual(a, as_cview(b), as_cview(s.x));
        EXPECT_LE(truth.norm, truth.norm_b * (1 + 1e-9L))
            << seed << ", " << solver << ", " << precond << ": " << s.report.message;
      }
  }
}

} // namespace
} // namespace furrow
