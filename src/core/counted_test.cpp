// SPDX-License-Identifier: BSD-3-Clause
#include "counted.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

TEST(counted, knows_one_from_many) {
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1234, "entry"), "1234 entries");
  EXPECT_EQ(counted_text(1234, "entry"), "1,234 entries");
  EXPECT_EQ(counted_text(1, "launch"), "1 launch");
  EXPECT_EQ(plural(2, "launch"), "launches");
}

} // namespace
} // namespace furrow
