// SPDX-License-Identifier: BSD-3-Clause
#include "ticketed_sums.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

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

/// Blocks begin and come to their ends in any order, a few at a time.
TEST(ticketed_sums, gives_every_share_to_one_block_that_may_wait) {
  std::mt19937 random(1);
  const auto draw = [&](std::size_t below) { return static_cast<unsigned>(random() % below); };
  for (int game = 0; game < 20000; ++game) {
    const unsigned pieces = 1 + draw(40), shares = 1 + draw(gpu::most_shares);
    const unsigned slots = 1 + draw(40);
    unsigned counter = 0, begun = 0, taken = 0;
    const auto add = [&](unsigned by) { return std::exchange(counter, counter + by); };
    std::vector<unsigned> tickets; // of blocks that run
    while (begun < pieces || !tickets.empty()) {
      if (begun < pieces && tickets.size() < slots && (tickets.empty() || draw(2) == 0)) {
        tickets.push_back(add(1));
        ++begun;
        continue;
      }
      const auto which = tickets.begin() + draw(tickets.size());
      const unsigned mine = gpu::shares_to_take(add, *which, pieces, shares);
      tickets.erase(which);
      if (mine != 0) {
        EXPECT_EQ(begun, pieces) << "waits for a block that may never begin";
      }
      EXPECT_EQ(taken & mine, 0u);
      taken |= mine;
    }
    ASSERT_EQ(taken, (1u << shares) - 1) << pieces << ", " << shares;
  }
}

} // namespace
} // namespace furrow
