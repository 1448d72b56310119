// SPDX-License-Identifier: BSD-3-Clause
#include "elimination.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

/// The shift that factors of B = (1) get whose pivot is `pivot` below a shift of 0.05 and 1 from there on.
double shift_for(double pivot) {
  const auto one = [](double value) { return row_matrix<double>{{1, 1}, {0, 1}, {0}, {value}}; };
  const row_matrix<double> b = one(1);
  return stable_factors(b.view(),
                        [&](row_view<double>, double shift) {
                          return lu_factors{.rows = one(shift < 0.05 ? pivot : 1), .pivot = {0}};
                        })
      .shift;
}

TEST(elimination, factors_that_magnify_by_more_than_1e7_are_shifted) {
  EXPECT_EQ(shift_for(1 / 9e6), 0);
  EXPECT_EQ(shift_for(1 / 1.1e7), 0.1);
}

} // namespace
} // namespace furrow
