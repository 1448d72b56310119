// SPDX-License-Identifier: BSD-3-Clause
#include "tune/steady.hpp"
#include "tune/summary.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace furrow {
namespace {

TEST(summary, is_the_geometric_mean_of_what_counts) {
  const std::vector<double> ratios{4, 0.25, 0, -1, std::nan(""), std::numeric_limits<double>::infinity(), 8};
  const ratio_summary s = summarize(ratios);
  EXPECT_EQ(s.count, 3);
  EXPECT_DOUBLE_EQ(s.geometric_mean, 2);
  EXPECT_EQ(s.worst, 0.25);
  EXPECT_EQ(s.best, 8);
  EXPECT_EQ(summarize({}).count, 0);
  EXPECT_EQ(summarize({}).geometric_mean, 0);
}

TEST(summary, of_inverse_ratios_is_the_inverse) {
  const std::vector<double> there{1.5, 7, 0.3}, back{1 / 1.5, 1 / 7.0, 1 / 0.3};
  EXPECT_NEAR(summarize(there).geometric_mean * summarize(back).geometric_mean, 1, 1e-15);
}

TEST(steady, calls_as_often_as_it_says) {
  int calls = 0;
  const timing t = time_steadily([&] { ++calls; }, {}, {7, 0, nullptr});
  EXPECT_EQ(t.repeats, 7);
  EXPECT_EQ(calls, 9); // two to warm up
  EXPECT_LE(t.fastest, t.median);
  calls = 0;
  EXPECT_EQ(time_steadily([&] { ++calls; }, {}, {0, 1e9, nullptr}).repeats, 1000);
  EXPECT_EQ(time_steadily([&] { ++calls; }, {}, {0, 0, nullptr}).repeats, 3);
}

} // namespace
} // namespace furrow
