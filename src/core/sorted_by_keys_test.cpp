// SPDX-License-Identifier: BSD-3-Clause
#include "sorted_by_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace furrow {
namespace {

TEST(sorted_by_keys, agrees_with_a_stable_sort) {
  std::mt19937_64 random(3);
  for (const std::uint64_t mask :
       {~std::uint64_t(0), std::uint64_t(7), std::uint64_t(0xff000000000000ff), std::uint64_t(0)}) {
    for (const std::uint32_t count : {0u, 1u, 2u, 1000u}) {
      std::vector<keyed_number> all(count);
      for (std::uint32_t k = 0; k < count; ++k) all[k] = {random() & mask, k};
      std::vector<keyed_number> expected = all;
      std::ranges::stable_sort(expected, {}, &keyed_number::key);
      sort_by_keys(all);
      EXPECT_TRUE(std::ranges::equal(
          all, expected,
          [](const keyed_number& a, const keyed_number& b) { return a.key == b.key && a.number == b.number; }))
          << mask << ' ' << count;
    }
  }
}

} // namespace
} // namespace furrow
