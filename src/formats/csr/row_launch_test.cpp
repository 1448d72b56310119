// SPDX-License-Identifier: BSD-3-Clause
#include "row_launch.hpp"

#include <gtest/gtest.h>

namespace furrow::csr_format {
namespace {

TEST(row_launch, runs_the_width_that_was_asked_for) {
  const auto same = [](auto width) { return int(width); };
  for (int w = 1; w <= 32; w *= 2) {
    EXPECT_EQ(with_width<32>(w, same), w);
    EXPECT_EQ(with_width<64>(w, same), w);
  }
  EXPECT_EQ(with_width<64>(64, same), 64);
  EXPECT_THROW(with_width<32>(64, same), error);
  EXPECT_THROW(with_width<64>(3, same), error);
}

TEST(row_launch, of_the_classic_kernels_and_of_what_follows_their_names) {
  const auto expect = [](std::string_view kernel, double mean, int warp, int width, bool fill, int block) {
    const row_launch l = classic_launch(kernel, mean, warp);
    EXPECT_EQ(l.width, width) << kernel;
    EXPECT_EQ(l.fill, fill) << kernel;
    EXPECT_EQ(l.block, block) << kernel;
  };
  expect("scalar", 7, 32, 1, false, 0);
  expect("vector", 1, 32, 2, false, 0);
  expect("vector", 7, 32, 4, false, 0);
  expect("vector", 1000, 32, 32, false, 0);
  expect("vector", 40, 64, 32, false, 0);
  expect("vector", 1000, 64, 64, false, 0);
  expect("vector:lanes=16", 7, 32, 16, false, 0);
  expect("vector:block=64", 7, 32, 4, false, 64);
  expect("warp_per_row:block=128", 7, 64, 64, false, 128);
  expect("half_warp", 7, 64, 32, true, 0);
  expect("naive:block=1024", 7, 32, 1, true, 1024);
  EXPECT_THROW(classic_launch("vector:lanes=64,block=32", 7, 64), error);
  EXPECT_THROW(classic_launch("warp_per_row:block=32", 7, 64), error);
}

} // namespace
} // namespace furrow::csr_format
