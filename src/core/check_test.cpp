// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include "kit/said_by.hpp"

#include <gtest/gtest.h>

/// A part of a sentence that counts how often it is written.
struct counted {
  int* times;
};

template <> struct fmt::formatter<counted> : fmt::formatter<int> {
  auto format(const counted& c, fmt::format_context& context) const {
    return fmt::formatter<int>::format(++*c.times, context);
  }
};

namespace furrow {
namespace {

TEST(check, puts_a_sentence_together_only_where_it_is_said) {
  int times = 0;
  const counted part{&times};
  for (int k = 0; k < 10; ++k) check(true, fault::input, "time {} of {}", part, 1);
  EXPECT_EQ(times, 0);
  EXPECT_EQ(kit::said_by(fault::memory, [&] { check(false, fault::memory, "time {} of {}", part, 1); }), "time 1 of 1");
}

TEST(check, says_a_sentence_without_parts_as_it_is) {
  EXPECT_NO_THROW(check(true, fault::usage, "braces {} stay"));
  EXPECT_EQ(kit::said_by(fault::usage, [&] { check(false, fault::usage, "braces {} stay"); }), "braces {} stay");
}

} // namespace
} // namespace furrow
