// SPDX-License-Identifier: BSD-3-Clause
#include "page_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace furrow {
namespace {

constexpr std::size_t MB = 1 << 20;

/// Resident bytes of this process.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, here = 0;
  file >> all >> here;
  return here * 4096;
}

void* touched(page_cache& from, std::size_t bytes) {
  void* const block = from.take(bytes);
  if (block) std::memset(block, 1, bytes);
  return block;
}

class kept_pages : public testing::Test {
protected:
  void SetUp() override {
    void* const first = pages.take(MB);
    static_cast<char*>(first)[0] = 7;
    pages.give_back(first, MB);
    void* const again = pages.take(MB);
    const bool keeps = static_cast<char*>(again)[0] == 7;
    pages.give_back(again, MB);
    pages.trim();
    if (!keeps) GTEST_SKIP() << "several memory nodes: nothing is kept";
  }
  page_cache pages;
};

TEST_F(kept_pages, serve_again_whole_and_in_pieces) {
  void* const large = touched(pages, 8 * MB);
  pages.give_back(large, 8 * MB);
  const std::size_t before = resident();
  void* const a = touched(pages, 3 * MB + 5);
  void* const b = touched(pages, 4 * MB);
  EXPECT_LT(resident(), before + MB);
  const auto inside = [&](void* p) { return p >= large && p < static_cast<char*>(large) + 8 * MB; };
  EXPECT_TRUE(inside(a) && inside(b));
  std::memset(a, 2, 3 * MB + 5);
  EXPECT_EQ(static_cast<char*>(b)[0], 1);
  EXPECT_EQ(static_cast<char*>(b)[4 * MB - 1], 1);
  pages.give_back(a, 3 * MB + 5);
  pages.give_back(b, 4 * MB);
  EXPECT_EQ(pages.take(8 * MB), large); // neighbours have become one block again
  pages.give_back(large, 8 * MB);
}

TEST_F(kept_pages, hardly_raise_the_peak) {
  const std::size_t before = resident();
  void* const a = touched(pages, 16 * MB);
  pages.give_back(a, 16 * MB);
  void* const b = touched(pages, 20 * MB); // larger than what is kept
  EXPECT_LT(resident(), before + 22 * MB + page_cache::slack);
  pages.give_back(b, 20 * MB);
  pages.trim();
  EXPECT_LT(resident(), before + 2 * MB);
}

TEST_F(kept_pages, stay_beside_a_block_that_is_a_little_larger) {
  void* const a = touched(pages, MB);
  pages.give_back(a, MB);
  void* const b = touched(pages, MB + 4096);
  EXPECT_EQ(pages.take(MB), a);
  pages.give_back(a, MB);
  pages.give_back(b, MB + 4096);
}

TEST_F(kept_pages, are_not_kept_without_a_limit) {
  const std::size_t before = resident(), half = page_cache::usually_kept / 2 + MB;
  void* const a = touched(pages, half);
  void* const b = touched(pages, half);
  pages.give_back(a, half);
  pages.give_back(b, half);
  EXPECT_LT(resident(), before + page_cache::usually_kept + MB);
  pages.keep_at_most(3 * MB);
  EXPECT_LT(resident(), before + 4 * MB);
}

TEST_F(kept_pages, say_when_there_is_no_memory) { EXPECT_EQ(pages.take(std::size_t(1) << 60), nullptr); }

} // namespace
} // namespace furrow
