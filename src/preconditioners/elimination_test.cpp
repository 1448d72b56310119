// SPDX-License-Identifier: BSD-3-Clause
#include "elimination.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

/// The shift that factors of B = (1) get whose pivot is 1 / `growth` for no shift, 1 / `later` below a shift of 0.05
/// and 1 from there on.
double shift_for(double growth, double later) {
  const auto one = [](double value) { return row_matrix<double>{{1, 1}, {0, 1}, {0}, {value}}; };
  const row_matrix<double> b = one(1);
  return stable_factors(
             b.view(),
             [&](row_view<double>, double shift) {
               return lu_factors{.rows = one(1 / (shift == 0 ? growth : shift < 0.05 ? later : 1)), .pivot = {0}};
             })
      .shift;
}

TEST(elimination, factors_that_magnify_are_shifted) {
  EXPECT_EQ(shift_for(9e7, 1), 0);
  EXPECT_EQ(shift_for(2e8, 9e7), 1e-3);
  EXPECT_EQ(shift_for(2e8, 2e8), 0.1);
  EXPECT_EQ(shift_for(1e17, 9e5), 1e-3);
  EXPECT_EQ(shift_for(1e17, 2e6), 0.1);
}

} // namespace
} // namespace furrow
