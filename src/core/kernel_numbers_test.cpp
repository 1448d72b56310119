// SPDX-License-Identifier: BSD-3-Clause
#include "kernel_numbers.hpp"

#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

constexpr kernel_freedom both{true, true}, block_alone{false, true}, fixed{};

TEST(kernel_numbers, are_read_in_any_order_and_may_be_missing) {
  const auto expect = [](std::string_view text, int lanes, int block) {
    const kernel_numbers n = read_kernel_numbers(text, both, 64);
    EXPECT_EQ(n.lanes, lanes) << text;
    EXPECT_EQ(n.block, block) << text;
    EXPECT_EQ(kernel_name(text), "vector");
  };
  expect("vector", 0, 0);
  expect("vector:lanes=8", 8, 0);
  expect("vector:block=1024", 0, 1024);
  expect("vector:lanes=64,block=32", 64, 32);
  expect("vector:block=128,lanes=2", 2, 128);
}

std::string complaint(std::string_view text, kernel_freedom free, int warp = 32) {
  return kit::said_by(fault::usage, [&] { read_kernel_numbers(text, free, warp); });
}

TEST(kernel_numbers, that_make_no_sense_are_named) {
  for (const char* value : {"1", "3", "64", "-2", "", "x", "8x", "99999999999"})
    EXPECT_EQ(complaint(std::string("v:lanes=") + value, both),
              "kernel 'v:lanes=" + std::string(value) + "': lanes=" + value +
                  " is no power of two from 2 to 32: give one of these");
  for (const char* value : {"16", "2048", "100", "0"})
    EXPECT_EQ(complaint(std::string("v:block=") + value, both),
              "kernel 'v:block=" + std::string(value) + "': block=" + value +
                  " is no power of two from 32 to 1024: give one of these");
  EXPECT_EQ(complaint("v:rows=8", both), "kernel 'v:rows=8': it has no use for 'rows=8': give v[:lanes=L,block=B]");
  EXPECT_EQ(complaint("v:lanes", both), "kernel 'v:lanes': it has no use for 'lanes': give v[:lanes=L,block=B]");
  EXPECT_EQ(complaint("s:lanes=8", block_alone), "kernel 's:lanes=8': it has no use for 'lanes=8': give s[:block=B]");
  EXPECT_EQ(complaint("t:block=64", fixed), "kernel 't:block=64': it has no use for 'block=64': give t alone");
  EXPECT_EQ(complaint("v:", both), "kernel 'v:' ends with a colon: give v[:lanes=L,block=B]");
  EXPECT_EQ(complaint("v:block=64,", both), "kernel 'v:block=64,' ends with a comma: give v[:lanes=L,block=B]");
  EXPECT_EQ(complaint("v:block=64,block=64", both), "kernel 'v:block=64,block=64': block comes twice: give it once");
}

} // namespace
} // namespace furrow
