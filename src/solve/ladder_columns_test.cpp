// SPDX-License-Identifier: BSD-3-Clause
// Where a ladder begins with the next right-hand side.
#include "solve_test_kit.hpp"

#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

using namespace solve_test;

/// Kahan's matrix of 9 rows, with a condition number of 1.3e9.
coo<double> kahan() {
  const double s = 0.15428835668414068, c = 0.9880258614994384;
  return kit::from_function(
      9, [=](index_t i, index_t j) { return j < i ? 0.0 : std::pow(s, double(i)) * (i == j ? 1.0 : -c); });
}

solve_report next(solver<double>& kept, const host_array<double>& b) {
  host_array<double> x(b.size(), 0.0);
  return kept.solve(as_cview(b), as_view(x));
}

/// Nearly the left singular vector of its smallest singular value, of a length at which rounding of A x is above the
/// goal: it depends on the instructions that add up.
host_array<double> hard_for_kahan() {
  const host_array<double> direction{-1.972080701129275e-09,  -1.9058120760377076e-08, -2.248562834211163e-07,
                                     -2.8297836968176876e-06, -3.62420103571124e-05,   -0.0004662654348929569,
                                     -0.0060055521103597985,  -0.07737475044994647,    -0.996983882824422};
  for (int k = 0; k < 100; ++k) {
    host_array<double> b(direction);
    for (double& v : b) v *= 1 + 0.01 * k;
    solver<double> alone(kahan(), by_auto());
    if (next(alone, b).solver != "direct") return b;
  }
  ADD_FAILURE() << "factors solve them all";
  return direction;
}

TEST(ladder_columns, go_back_to_factors_that_one_right_hand_side_was_too_hard_for) {
  const auto a = kahan();
  const auto hard = hard_for_kahan(), plain = kit::times(a, ones(9));
  solver<double> kept(a, by_auto());
  EXPECT_NE(next(kept, hard).solver, "direct");
  for (int turn = 0; turn < 2; ++turn) {
    const auto r = next(kept, plain);
    EXPECT_EQ(r.why, status::converged) << r.message;
    EXPECT_EQ(r.solver, "direct");
    EXPECT_EQ(r.rungs.size(), 1u);
    EXPECT_EQ(r.rungs[0].setup_seconds, 0) << "factors are made once";
    for (int k = 0; k < 5; ++k) {
      const auto again = next(kept, hard);
      EXPECT_EQ(again.rungs.front().solver, "direct");
      if (k > 2) {
        EXPECT_EQ(again.rungs.size(), 2u); // and on to the one that stood
        EXPECT_EQ(again.rungs[0].setup_seconds + again.rungs[1].setup_seconds, 0);
      }
    }
  }
}

TEST(ladder_columns, of_one_call_do_not_suffer_from_each_other) {
  const auto a = kahan();
  const auto hard = hard_for_kahan(), plain = kit::times(a, ones(9));
  host_array<double> b(27), x(27, 0.0);
  for (const index_t j : {0, 1, 2}) std::ranges::copy(j == 1 ? plain : hard, b.begin() + 9 * j);
  const auto reports = solver<double>(a, by_auto()).solve(as_cview(b), as_view(x), 3);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[1].solver, "direct");
  for (index_t i = 9; i < 18; ++i) EXPECT_NEAR(x[i], 1, 1e-6) << i;
}

/// Symmetric, neither definite nor near it.
coo<double> of_both_signs(index_t n) {
  return kit::from_function(n, [](index_t i, index_t j) {
    return i == j ? (i % 2 == 0 ? 1.0 : -1.3) : std::abs(i - j) == 1 ? 0.4 : std::abs(i - j) == 5 ? 0.3 : 0.0;
  });
}

host_array<double> next_to_nothing(index_t n) {
  host_array<double> b(n);
  for (index_t i = 0; i < n; ++i) b[i] = double(i % 7 - 3) * 5e-324;
  return b;
}

TEST(ladder_columns, go_back_behind_numbers_that_vanish) {
  const auto a = of_both_signs(26);
  solver<double> kept(a, by_auto());
  EXPECT_EQ(next(kept, next_to_nothing(26)).why, status::stagnated);
  const auto r = next(kept, kit::random_vector<double>(26, 3));
  EXPECT_EQ(r.why, status::converged) << r.message;
  EXPECT_EQ(r.solver, "direct");
}

TEST(ladder_columns, go_back_to_no_avail_twice_where_that_takes_a_set_up) {
  const index_t n = 3100; // factors of so many rows are not kept beside what follows
  const auto a = of_both_signs(n);
  const auto b = next_to_nothing(n);
  solver<double> kept(a, by_auto());
  for (int k = 0; k < 5; ++k) {
    const auto r = next(kept, b);
    if (k < 3) EXPECT_GT(r.rungs.size(), 1u) << k;
    else EXPECT_EQ(r.rungs.size(), 1u) << k;
  }
}

} // namespace
} // namespace furrow
