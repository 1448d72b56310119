// SPDX-License-Identifier: BSD-3-Clause
#include "symbolic.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace furrow {
namespace {

using pattern = std::vector<std::set<int>>; ///< of each row the columns before it

lower_pattern packed(const pattern& rows) {
  lower_pattern p{host_array<index_t>(index_t(rows.size()) + 1, 0), {}};
  std::vector<std::int32_t> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const int j : rows[i]) all.insert(all.end(), 1 + std::size_t(j) % 2, j); // some twice
    p.row_ptr[index_t(i) + 1] = index_t(all.size());
  }
  p.col = host_array<std::int32_t>(index_t(all.size()));
  std::copy(all.begin(), all.end(), p.col.begin());
  return p;
}

struct eliminated {
  std::vector<index_t> count;
  std::vector<std::int32_t> parent;
};

/// By the definition: rows with an entry in the column that is eliminated get one in each column of the others.
eliminated eliminate(pattern rows) {
  const int n = int(rows.size());
  eliminated e{std::vector<index_t>(rows.size(), 1), std::vector<std::int32_t>(rows.size(), -1)};
  for (int j = 0; j < n; ++j) {
    std::vector<int> below;
    for (int i = j + 1; i < n; ++i)
      if (rows[std::size_t(i)].contains(j)) below.push_back(i);
    e.count[std::size_t(j)] += index_t(below.size());
    if (!below.empty()) e.parent[std::size_t(j)] = below.front();
    for (const int i : below)
      for (const int k : below)
        if (k < i) rows[std::size_t(i)].insert(k);
  }
  return e;
}

void expect_same(const pattern& rows) {
  const eliminated e = eliminate(rows);
  const lower_pattern p = packed(rows);
  const auto parent = elimination_tree(p);
  const auto count = cholesky_counts(p, parent);
  EXPECT_TRUE(std::equal(parent.begin(), parent.end(), e.parent.begin(), e.parent.end()));
  EXPECT_TRUE(std::equal(count.begin(), count.end(), e.count.begin(), e.count.end()));
}

TEST(symbolic, counts_as_elimination_does) {
  std::uint32_t state = 1;
  const auto next = [&](std::uint32_t below) { return (state = state * 1664525u + 1013904223u) / 65536u % below; };
  for (int trial = 0; trial < 400; ++trial) {
    const auto n = 1 + next(40), each = 1 + next(5);
    pattern rows(n);
    for (std::uint32_t i = 1; i < n; ++i)
      for (std::uint32_t k = 0; k < next(each + 1); ++k) rows[i].insert(int(next(i)));
    expect_same(rows);
  }
}

TEST(symbolic, knows_an_arrow_both_ways_and_no_rows_at_all) {
  expect_same({});
  expect_same({{}, {}, {}});
  pattern full_last(9), full_first(9);
  for (int i = 1; i < 9; ++i) full_last[8].insert(i - 1), full_first[std::size_t(i)].insert(0);
  expect_same(full_last);
  expect_same(full_first);
  const lower_pattern p = packed(full_first);
  const auto count = cholesky_counts(p, elimination_tree(p));
  for (index_t j = 0; j < 9; ++j) EXPECT_EQ(count[j], 9 - j); // all of it fills in
}

/// A band of half-width w in n rows fills up: w + 1 entries a column but for the last ones.
TEST(symbolic, counts_a_long_band_whose_factor_is_known) {
  constexpr int n = 20000, w = 30;
  pattern rows(n);
  for (int i = w; i < n; ++i) rows[std::size_t(i)] = {i - w, i - 1};
  for (int i = 1; i < w; ++i) rows[std::size_t(i)] = {i - 1};
  const lower_pattern p = packed(rows);
  const auto count = cholesky_counts(p, elimination_tree(p));
  EXPECT_EQ(count[n / 2], w + 1);
  EXPECT_EQ(count[n - 1], 1);
  EXPECT_EQ(count[n - 1 - w], w + 1);
}

} // namespace
} // namespace furrow
