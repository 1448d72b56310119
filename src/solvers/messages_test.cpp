// SPDX-License-Identifier: BSD-3-Clause
#include "direct/messages.hpp"
#include "messages.hpp"

#include "kit/said_by.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

using kit::mentions;
using namespace solver_messages;

TEST(solver_messages, tell_a_residual_that_stays_from_one_that_rounding_hides) {
  const std::string stays = stagnated({.iterations = 8, .restarts = 1, .relative = 1.047e-8});
  EXPECT_TRUE(mentions(stays, "stays at 1.047e-08 after 8 iterations and 1 restart:")) << stays;
  EXPECT_TRUE(mentions(stays, "a tolerance of 2e-08")) << stays;
  const std::string hidden =
      stagnated({.iterations = 8, .restarts = 1, .relative = 9.453e-9, .relative_floor = 1.555e-6});
  EXPECT_TRUE(mentions(hidden, "is 9.453e-09 as it is computed, of which rounding may hide 1.555e-06,")) << hidden;
  EXPECT_TRUE(mentions(hidden, "a tolerance of 2e-06")) << hidden;
}

TEST(solver_messages, name_a_way_out_of_numbers_that_overflow_in_a_method) {
  EXPECT_EQ(residual_not_finite({}), "the residual is not a finite number: the numbers overflow");
  EXPECT_EQ(residual_not_finite({.iterations = 3}), "iteration 3: the residual is not a finite number: the numbers "
                                                    "overflow; another solver or preconditioner may not");
}

TEST(solver_messages, know_one_from_many) {
  EXPECT_EQ(converged({.iterations = 1}), "converged in 1 iteration");
  EXPECT_EQ(converged({.iterations = 0}), "converged in 0 iterations");
  EXPECT_TRUE(mentions(limit({.iterations = 1, .relative = 0.5, .first_relative = 1}), "limit of 1 iteration with"));
  const std::string no_better = limit({.iterations = 9, .relative = 1e-3, .first_relative = 1e-3});
  EXPECT_TRUE(mentions(no_better, "none of which brought the residual below the 1.000e-03 of the x that it began with"))
      << no_better;
  EXPECT_TRUE(mentions(out_of_time({.iterations = 1}), "after 1 iteration with"));
  EXPECT_TRUE(
      mentions(stagnated({.iterations = 1, .restarts = 9, .relative = 1e-3}), "after 1 iteration and 9 restarts:"));
}

TEST(solver_messages, promise_no_error_that_is_no_larger) {
  EXPECT_EQ(inaccurate(1e-3, 1e4, 1e-8), "");
  const std::string some = inaccurate(0.03, 4.1e7, 1e-8);
  EXPECT_TRUE(mentions(some, "may be off by 3 % or much more: ")) << some;
  EXPECT_TRUE(mentions(some, "is at least 4.1e+07; a tolerance of 7e-10 or less shows more of it")) << some;
  const std::string all = inaccurate(2, 4.1e7, 1e-8);
  EXPECT_TRUE(mentions(all, "may be off by as much as it is large: ")) << all;
}

TEST(solver_messages, say_no_infinity) {
  const double inf = HUGE_VAL;
  EXPECT_EQ(inaccurate(inf, inf, 1e-8), "the residual is small, but x may be off by as much as it is large");
  const std::string one = direct_messages::warning(inf, inf);
  EXPECT_TRUE(mentions(one, "the condition number of the matrix is beyond all numbers, ")) << one;
}

} // namespace
} // namespace furrow
