// SPDX-License-Identifier: BSD-3-Clause
#include "host_room.hpp"

#include "kit/sanitized.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstdint>

namespace furrow {
namespace {

TEST(host_room, of_so_many_bytes_takes_no_more) {
  host_room room = 1000;
  EXPECT_TRUE(room.takes(1000));
  EXPECT_FALSE(room.takes(1001));
  EXPECT_EQ(room.bytes(), 1000);
}

TEST(host_room, is_what_the_host_has_and_lets_a_little_pass) {
  if (kit::sanitized()) GTEST_SKIP() << "sanitizers need memory of their own at any time";
  constexpr double little = 1 << 24;
  EXPECT_TRUE(host_room().takes(1e6));
  EXPECT_FALSE(host_room().takes(1e18));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr std::int64_t most = std::int64_t(1) << 40;
  if (before.rlim_cur <= rlim_t(most)) GTEST_SKIP() << "a lower limit is set already";
  rlimit lower = before;
  lower.rlim_cur = 1; // nothing is left; what the process has it keeps
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  const bool takes_little = host_room().takes(little), takes_more = host_room().takes(little + 1);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(takes_little);
  EXPECT_FALSE(takes_more);
}

} // namespace
} // namespace furrow
