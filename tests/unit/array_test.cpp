// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/array.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace furrow {
namespace {

TEST(array, resize_keeps_the_memory_where_it_is_large_enough) {
  host_array<double> a(100, 1.0);
  const double* const memory = a.data();
  a.resize(10);
  EXPECT_EQ(a.size(), 10);
  EXPECT_EQ(a.capacity(), 100);
  a.resize(100);
  EXPECT_EQ(a.data(), memory);
  a.resize(101);
  EXPECT_EQ(a.size(), 101);
  EXPECT_GE(a.capacity(), 101);
}

TEST(array, extend_keeps_the_data) {
  host_array<int> a{1, 2, 3};
  a.extend(1000);
  ASSERT_EQ(a.size(), 1000);
  EXPECT_EQ(a[0], 1);
  EXPECT_EQ(a[1], 2);
  EXPECT_EQ(a[2], 3);
  a.extend(2);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(a.capacity(), 1000);
}

TEST(array, copies_are_deep_and_moves_leave_an_empty_array) {
  host_array<int> a{1, 2, 3}, b = a;
  b[0] = 7;
  EXPECT_EQ(a[0], 1);
  const int* const memory = b.data();
  host_array<int> c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_TRUE(b.empty()); // NOLINT(bugprone-use-after-move): what a moved-from array is, is the contract under test
  a = c;
  EXPECT_EQ(a[0], 7);
  a = a; // NOLINT: self-assignment is part of the contract
  EXPECT_EQ(a[0], 7);
}

TEST(array, an_empty_array_owns_nothing) {
  host_array<double> a(0), b;
  EXPECT_EQ(a.data(), nullptr);
  b = a;
  EXPECT_TRUE(b.empty());
}

TEST(array, sizes_that_no_memory_holds_are_refused) {
  EXPECT_THROW(host_array<double>(std::numeric_limits<index_t>::max() / 4), error);
  EXPECT_THROW(host_array<double>(index_t(-1)), error);
}

TEST(array, memory_is_aligned_for_vectors) {
  for (index_t n : {1, 3, 1000, 1 << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host_array<double>(n).data()) % 64, 0u) << n;
}

} // namespace
} // namespace furrow
