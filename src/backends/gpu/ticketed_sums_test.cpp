// SPDX-License-Identifier: BSD-3-Clause
#include "ticketed_sums.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace furrow {
namespace {

TEST(ticketed_sums, leaves_no_number_that_looks_like_an_empty_place) {
  const auto empty32 = std::bit_cast<float>(gpu::empty_bits<float>);
  const auto empty64 = std::bit_cast<double>(gpu::empty_bits<double>);
  EXPECT_EQ(gpu::bits_to_publish(empty32), std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(gpu::bits_to_publish(empty64), std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()));
  for (const float sum : {0.0f, -0.0f, 1.5f, -std::numeric_limits<float>::infinity()})
    EXPECT_EQ(gpu::bits_to_publish(sum), std::bit_cast<std::uint32_t>(sum));
  for (const double sum : {0.0, -0.0, 1.5, -std::numeric_limits<double>::infinity()})
    EXPECT_EQ(gpu::bits_to_publish(sum), std::bit_cast<std::uint64_t>(sum));
}

} // namespace
} // namespace furrow
