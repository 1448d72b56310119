// SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include "kit/matrices.hpp"
#include "kit/ranks_check.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

std::vector<index_t> cut(const coo<double>& a, int ranks) {
  return cut_by_entries(as_cview(a.row), a.shape.rows, ranks);
}

TEST(partition, covers_all_rows_in_order) {
  for (const auto& [name, a] : kit::whole_battery())
    for (const int ranks : kit::numbers_of_ranks) {
      const auto begins = cut(a, ranks);
      ASSERT_EQ(begins.size(), static_cast<std::size_t>(ranks) + 1) << name;
      EXPECT_EQ(begins.front(), 0) << name;
      EXPECT_EQ(begins.back(), a.shape.rows) << name;
      EXPECT_TRUE(std::ranges::is_sorted(begins)) << name;
    }
}

TEST(partition, gives_each_rank_about_as_much) {
  const auto a = kit::laplacian(30, 30, 30);
  for (const int ranks : kit::numbers_of_ranks) {
    const auto begins = cut(a, ranks);
    std::vector<index_t> entries(static_cast<std::size_t>(ranks), 0);
    for (const std::int32_t i : a.row) ++entries[static_cast<std::size_t>(owner_of(begins, i))];
    const double share = double(a.nnz()) / ranks;
    for (const index_t n : entries) EXPECT_NEAR(double(n), share, 0.02 * share);
  }
}

TEST(partition, puts_a_full_row_on_a_rank_of_its_own) { // 1 + 1000 entries in row 0, one in each other row
  const auto a = kit::from_function(1000, [](index_t i, index_t j) { return i == 0 || i == j ? 1.0 : 0.0; });
  EXPECT_EQ(cut(a, 8)[1], 1);
}

TEST(partition, leaves_ranks_without_rows) {
  EXPECT_EQ(cut(kit::diagonal({1, 1}), 4).back(), 2);
  EXPECT_EQ(cut({}, 3), (std::vector<index_t>{0, 0, 0, 0}));
}

TEST(partition, knows_who_has_a_row) {
  const std::vector<index_t> begins{0, 2, 2, 5}; // the second one has none
  EXPECT_EQ(owner_of(begins, 0), 0);
  EXPECT_EQ(owner_of(begins, 1), 0);
  EXPECT_EQ(owner_of(begins, 2), 2);
  EXPECT_EQ(owner_of(begins, 4), 2);
}

} // namespace
} // namespace furrow
