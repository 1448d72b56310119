// SPDX-License-Identifier: BSD-3-Clause
#include "core/transpose_comparison.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

transpose_comparison of(shape2 shape, std::initializer_list<std::int32_t> row, std::initializer_list<std::int32_t> col,
                        std::initializer_list<double> val) {
  return compare_with_transpose(
      {shape, host_array<std::int32_t>(row), host_array<std::int32_t>(col), host_array<double>(val)});
}

void expect(const transpose_comparison& m, bool pattern, bool symmetric, bool skew) {
  EXPECT_EQ(m.pattern, pattern);
  EXPECT_EQ(m.symmetric, symmetric);
  EXPECT_EQ(m.skew, skew);
}

TEST(transpose_comparison, tells_the_kinds_apart) {
  expect(of({2, 2}, {0, 1}, {1, 0}, {3, 3}), true, true, false);
  expect(of({2, 2}, {0, 1}, {1, 0}, {3, -3}), true, false, true);
  expect(of({2, 2}, {0, 1}, {1, 0}, {3, 4}), true, false, false);
  expect(of({2, 2}, {0}, {1}, {3}), false, false, false);
  expect(of({2, 2}, {0}, {1}, {0}), false, true, true);   // a stored zero facing an absent entry
  expect(of({2, 2}, {0}, {0}, {1}), true, true, false);   // a diagonal that is not zero is not skew
  expect(of({2, 3}, {0}, {0}, {1}), false, false, false); // rectangular
  expect(of({0, 0}, {}, {}, {}), true, true, true);
}

TEST(transpose_comparison, sees_large_matrices_as_small_ones) {
  expect(compare_with_transpose(generate("random:20000:9").a), true, true, false);
  expect(compare_with_transpose(generate("convection2d:200:1").a), true, false, false);
  expect(compare_with_transpose(generate("powerlaw:20000:5:2.5").a), false, false, false);
}

} // namespace
} // namespace furrow
