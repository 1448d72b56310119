// SPDX-License-Identifier: BSD-3-Clause
#include "row_offsets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace furrow {
namespace {

/// Rows of l(i) entries.
template <class L> host_array<std::int32_t> rows_of(index_t rows, L l) {
  std::vector<std::int32_t> all;
  for (index_t i = 0; i < rows; ++i)
    all.insert(all.end(), static_cast<std::size_t>(l(i)), static_cast<std::int32_t>(i));
  host_array<std::int32_t> row(static_cast<index_t>(all.size()));
  std::ranges::copy(all, row.begin());
  return row;
}

/// By parts of so many rows.
template <class I>
std::optional<host_array<I>> checked_offsets(const host_array<std::int32_t>& row, index_t rows, index_t part) {
  host_array<I> row_ptr(rows + 1, I(-1));
  bool right = true;
  for (index_t first = 0; first <= rows; first += part)
    right &= write_row_offsets(as_cview(row), rows, first, std::min(first + part, rows + 1), row_ptr.data() + first);
  if (!right) return std::nullopt;
  return row_ptr;
}

template <class L> void expect_offsets(index_t rows, L l) {
  const auto row = rows_of(rows, l);
  std::vector<index_t> wanted(static_cast<std::size_t>(rows) + 1, 0);
  for (index_t i = 0; i < rows; ++i) wanted[i + 1] = wanted[i] + l(i);
  EXPECT_TRUE(std::ranges::equal(offsets_of_rows<std::int64_t>(row, rows), wanted));
  EXPECT_TRUE(std::ranges::equal(offsets_of_rows<std::int32_t>(row, rows), wanted));
  for (const index_t part : {index_t(1), index_t(100), rows + 1}) {
    const auto wide = checked_offsets<std::int64_t>(row, rows, part);
    const auto narrow = checked_offsets<std::int32_t>(row, rows, part);
    ASSERT_TRUE(wide && narrow);
    EXPECT_TRUE(std::ranges::equal(*wide, wanted));
    EXPECT_TRUE(std::ranges::equal(*narrow, wanted));
  }
}

TEST(row_offsets, that_are_checked_are_those_of_sorted_rows) {
  for (const index_t rows : {0, 1, 2, 585, 586, 4096, 4097, 30'000}) {
    SCOPED_TRACE(rows);
    expect_offsets(rows, [](index_t) { return 0; });
    expect_offsets(rows, [](index_t) { return 1; });
    expect_offsets(rows, [](index_t) { return 7; });
    expect_offsets(rows, [](index_t i) { return i * i % 11; });
    expect_offsets(rows, [](index_t i) { return i % 900 == 5 ? 5000 : i % 2; });
    expect_offsets(rows, [&](index_t i) { return i == rows / 2 ? 3 : 0; });
  }
}

TEST(row_offsets, are_refused_for_rows_that_go_down_or_leave_the_matrix) {
  const auto right = rows_of(9000, [](index_t i) { return 1 + i % 3; });
  const auto refused = [](const host_array<std::int32_t>& row) {
    int times = 0;
    for (const index_t part : {1, 250, 9001})
      times += !checked_offsets<std::int64_t>(row, 9000, part) + !checked_offsets<std::int32_t>(row, 9000, part);
    EXPECT_EQ(times % 6, 0);
    return times > 0;
  };
  EXPECT_FALSE(refused(right));
  for (const index_t k : {index_t(0), index_t(1), index_t(4095), index_t(4096), index_t(4097), right.size() - 1})
    for (const std::int32_t wrong :
         {-1, -2, std::numeric_limits<std::int32_t>::min(), 9000, std::numeric_limits<std::int32_t>::max()}) {
      auto row = right;
      row[k] = wrong;
      EXPECT_TRUE(refused(row)) << k << ": " << wrong;
    }
  for (const index_t k : {index_t(3), index_t(4096), index_t(8191), right.size() - 1}) {
    auto row = right;
    row[k] = row[k - 3] - 1; // inside, but before an earlier one
    EXPECT_TRUE(refused(row)) << k;
  }
}

} // namespace
} // namespace furrow
