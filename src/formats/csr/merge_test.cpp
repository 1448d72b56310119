// SPDX-License-Identifier: BSD-3-Clause
#include "merge_path.hpp"
#include "played_kernel.hpp"

#include <optional>

namespace furrow {
namespace {

/// (item, row) of all ends of rows, in the plainest way.
template <class I> std::vector<index_t> ends_of(const host_array<I>& row_ptr) {
  std::vector<index_t> ends;
  for (index_t r = 0; r + 1 < row_ptr.size(); ++r) ends.push_back(row_ptr[r + 1] + r);
  return ends;
}

TEST(merge_path, tiles_cover_every_entry_and_every_end_once) {
  for (const auto& m : kit::whole_battery())
    for (const index_t items : {1, 3, 64, 896}) {
      if (items < 64 && m.a.nnz() > 10000) continue;
      SCOPED_TRACE(m.name + ", " + std::to_string(items) + " items");
      const auto row_ptr = offsets_of_rows<std::int64_t>(m.a.row, m.a.shape.rows);
      const auto ends = ends_of(row_ptr);
      const auto cut = cut_path(row_ptr, items);
      const index_t length = m.a.nnz() + m.a.shape.rows, tiles = cut.size() - 1;
      ASSERT_EQ(tiles, (length + items - 1) / items);
      ASSERT_EQ(cut[tiles], m.a.shape.rows);
      for (index_t t = 0; t < tiles; ++t) {
        // The rows whose end lies before the tile, counted one by one.
        const auto before = std::lower_bound(ends.begin(), ends.end(), t * items) - ends.begin();
        ASSERT_EQ(cut[t], before) << t;
      }
    }
}

/// The kernel, played by one thread: `threads` shares of `items` a tile, the scan from left to right.
template <class V, class I>
host_array<V> play(const csr<V, I, host_array>& a, int threads, int items, V alpha, cview<V> x, V beta,
                   host_array<V> y) {
  const index_t tile = index_t(threads) * items;
  const auto cut = cut_path(a.row_ptr, tile);
  std::vector<std::optional<V>> carry(static_cast<std::size_t>(cut.size() - 1));
  for (index_t t = 0; t + 1 < cut.size(); ++t) {
    const carries c = carries_of(t, as_cview(a.row_ptr), as_cview(cut), tile);
    const index_t begin = t * tile, first_row = cut[t];
    const int count = static_cast<int>(std::min(tile, a.shape.rows + a.val.size() - begin));
    const int rows = static_cast<int>(cut[t + 1] - first_row);
    const auto end = [&](int r) { return static_cast<int>(a.row_ptr[first_row + r + 1] + first_row + r - begin); };
    const auto product = [&](int k) {
      const index_t at = begin - first_row + k;
      return a.val[at] * x[a.col[at]];
    };
    const auto finish = [&](int r, V sum) { store(alpha, sum, beta, y[first_row + r]); };
    const bool open = c.from < t && rows > 0;
    V head{};
    run<V> before{V(0), false};
    for (int thread = 0; thread < threads; ++thread) {
      const int first = std::min(thread * items, count), last = std::min(first + items, count);
      const walked<V> mine = walk_items<V>(first, last, rows, end, product, finish);
      if (mine.row == 0 && open) head = before.sum + mine.head;
      else if (mine.row >= 0) finish(mine.row, before.sum + mine.head);
      before = add_runs{}(before, mine.left_over());
    }
    if (c.leaves) carry[t] = before.sum;
    if (!open) continue;
    V sum{};
    for (index_t k = c.from; k < t; ++k) {
      EXPECT_TRUE(carry[k]) << "tile " << t << " waits for tile " << k << ", which leaves nothing";
      sum += carry[k].value_or(V(0));
      carry[k].reset();
    }
    finish(0, sum + head);
  }
  for (const auto& c : carry) EXPECT_FALSE(c) << "a carry that nobody takes";
  return y;
}

template <class V> struct merge_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(merge_of, precisions);

TYPED_TEST(merge_of, rows_across_threads_and_tiles_are_added_up) {
  using V = TypeParam;
  struct shares {
    int threads, items;
  };
  for (const auto& m : kit::whole_battery())
    for (const shares s : {shares{1, 1}, shares{2, 1}, shares{1, 3}, shares{4, 3}, shares{128, 7}}) {
      if (s.threads < 128 && m.a.nnz() > 10000) continue;
      SCOPED_TRACE(m.name + ", " + std::to_string(s.threads) + " threads");
      check_played<V>(m, [&](const auto& a, V alpha, cview<V> x, V beta, const host_array<V>& y) {
        return play(a, s.threads, s.items, alpha, x, beta, y);
      });
    }
}

TEST(merge_path, a_row_over_many_tiles_is_ended_by_the_last_one) {
  // Rows of 0, 10 and 3 entries in tiles of 4 items: e0 | the ten and e1 over items 1 to 11 | the three and e2.
  const host_array<std::int32_t> row_ptr{0, 0, 10, 13};
  const auto cut = cut_path(row_ptr, 4);
  const auto at = [&](index_t t) { return carries_of(t, as_cview(row_ptr), as_cview(cut), 4); };
  EXPECT_EQ(at(0).from, 0);
  EXPECT_TRUE(at(0).leaves);
  EXPECT_EQ(at(1).from, 0);
  EXPECT_TRUE(at(1).leaves);
  EXPECT_EQ(at(2).from, 0) << "item 11, the end, takes what tiles 0 and 1 have left";
  EXPECT_FALSE(at(2).leaves);
  EXPECT_EQ(at(3).from, 3);
  EXPECT_FALSE(at(3).leaves);
}

} // namespace
} // namespace furrow
