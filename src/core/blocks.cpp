// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "row_offsets.hpp"
#include "sample.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace furrow {
namespace {

using block_counts = std::array<index_t, most_edge + 1>;

/// Places an entry there.
template <int K, class Rows> double sampled_fill(shape2 shape, Rows rows, cview<std::int32_t> col) {
  index_t blocks = 0, entries = 0;
  const sampled_block_rows sample{(shape.rows + K - 1) / K};
  for (index_t k = 0; k < sample.stretches; ++k)
    walk_blocks<K>(
        rows, col, sample[k].first, sample[k].first + sample[k].count, [](index_t) {},
        [&](index_t, std::int32_t) { ++blocks; }, [&](index_t, int, int) { ++entries; });
  return fill_of(K, blocks, entries);
}

/// Rows by their first entry, and which of them have the columns of the row before.
struct row_lists {
  host_array<index_t> begin;
  host_array<char> repeats;
};

row_lists lists_of(shape2 shape, host_array<index_t> begin, cview<std::int32_t> col) {
  row_lists lists{std::move(begin), host_array<char>(shape.rows)};
  cpu::for_each_range(shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r) {
      const index_t here = lists.begin[r], entries = lists.begin[r + 1] - here;
      const index_t before = r ? lists.begin[r - 1] : 0;
      lists.repeats[r] = r > 0 && here - before == entries &&
                         std::memcmp(col.data + here, col.data + before, static_cast<std::size_t>(entries) * 4) == 0;
    }
  });
  return lists;
}

/// Blocks that the entries [at, end) of one row touch.
template <int K> FURROW_INLINE inline index_t count_alone(const std::int32_t* col, index_t at, index_t end) {
  std::int32_t blocks = at < end;
#pragma omp simd reduction(+ : blocks)
  for (index_t k = at + 1; k < end; ++k)
    blocks += static_cast<std::uint32_t>(col[k]) / K != static_cast<std::uint32_t>(col[k - 1]) / K;
  return blocks;
}

/// The block row that each column of blocks was last met in: small enough for a second cache, or empty. Rows with other
/// columns than their neighbours are counted by it in half the time that a merge takes, whose branches nobody foresees.
using met_blocks = std::vector<std::int32_t>;
constexpr index_t most_met = 1 << 16;

/// Blocks of one block row: those of its rows together, rows like the one before left out.
template <int K>
FURROW_INLINE inline index_t count_block_row(const row_lists& lists, const std::int32_t* col, index_t r, index_t last,
                                             met_blocks& met) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  index_t at[K], end[K];
  int rows = 0;
  for (index_t row = r * K; row < last; ++row) {
    if (lists.begin[row] == lists.begin[row + 1] || (row > r * K && lists.repeats[row])) continue;
    at[rows] = lists.begin[row];
    end[rows++] = lists.begin[row + 1];
  }
  if (rows == 0) return 0;
  if (rows == 1) return count_alone<K>(col, at[0], end[0]);
  index_t blocks = 0;
  if (!met.empty()) {
    std::int32_t* const last_met = met.data();
    const auto now = static_cast<std::int32_t>(r);
    for (int i = 0; i < rows; ++i)
      for (index_t k = at[i]; k < end[i]; ++k)
        blocks += std::exchange(last_met[static_cast<std::uint32_t>(col[k]) / K], now) != now;
    return blocks;
  }
  std::uint32_t next[K];
  for (int i = 0; i < rows; ++i) next[i] = static_cast<std::uint32_t>(col[at[i]]) / K;
  for (;;) {
    std::uint32_t c = next[0];
    for (int i = 1; i < rows; ++i) c = std::min(c, next[i]);
    if (c == none) return blocks;
    ++blocks;
    for (int i = 0; i < rows; ++i)
      while (next[i] == c) next[i] = ++at[i] < end[i] ? static_cast<std::uint32_t>(col[at[i]]) / K : none;
  }
}

/// Those of one part of the block rows.
template <int K>
index_t count_part(shape2 shape, const row_lists& lists, const std::int32_t* col, index_t parts, index_t part) {
  const index_t block_rows = (shape.rows + K - 1) / K, last = cpu::part_begin(block_rows, parts, part + 1);
  const index_t block_cols = (shape.cols + K - 1) / K;
  met_blocks met(block_cols <= most_met ? static_cast<std::size_t>(block_cols) : 0, -1);
  index_t blocks = 0;
  cpu::widest([&]() FURROW_INLINE {
    for (index_t r = cpu::part_begin(block_rows, parts, part); r < last; ++r)
      blocks += count_block_row<K>(lists, col, r, std::min(shape.rows, (r + 1) * K), met);
  });
  return blocks;
}

/// Part by part for all of these edges, so that columns come from memory once.
void count_edges(const std::vector<int>& edges, shape2 shape, host_array<index_t> begin, cview<std::int32_t> col,
                 block_counts& blocks) {
  const row_lists lists = lists_of(shape, std::move(begin), col);
  const index_t parts = std::clamp<index_t>(col.size >> 15, 1, 1024);
  std::vector<block_counts> found(static_cast<std::size_t>(parts), block_counts{});
  cpu::for_each_task(parts, [&](index_t part) {
    for (const int k : edges)
      found[part][k] = with_edge(k, [&](auto edge) { return count_part<edge>(shape, lists, col.data, parts, part); });
  });
  for (const block_counts& one : found)
    for (const int k : edges) blocks[k] += one[k];
}

} // namespace

std::vector<row_range> rows_of_block_sample(index_t rows) {
  std::vector<row_range> all;
  for (index_t edge = least_edge; edge <= most_edge; ++edge) {
    const sampled_block_rows sample{(rows + edge - 1) / edge};
    for (index_t k = 0; k < sample.stretches; ++k)
      all.push_back({sample[k].first * edge, std::min(sample[k].count * edge, rows - sample[k].first * edge)});
  }
  return all;
}

namespace {

template <class Rows> edge_verdicts judge(shape2 shape, Rows rows, cview<std::int32_t> col) {
  std::array<double, most_edge + 1> fill{};
  cpu::for_each_task(most_edge - least_edge + 1, [&](index_t n) {
    const index_t k = least_edge + n;
    fill[k] = with_edge(k, [&](auto edge) { return sampled_fill<edge>(shape, rows, col); });
  });
  return judge_edges(fill);
}

/// begin(): where each row begins, for the edges that are worth a count.
template <class Rows, class Begin>
block_counts count_worthwhile(shape2 shape, Rows rows, cview<std::int32_t> col, Begin begin) {
  block_counts blocks{};
  if (col.empty()) return blocks;
  if (col.size >= blocks_sampled_from) blocks = judge(shape, rows, col);
  std::vector<int> edges;
  for (int k = least_edge; k <= most_edge; ++k)
    if (blocks[k] == 0) edges.push_back(k);
  if (!edges.empty()) count_edges(edges, shape, begin(), col, blocks);
  return blocks;
}

} // namespace

edge_verdicts judge_edges(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  return judge(shape, rows_by_index{row}, col);
}
edge_verdicts judge_edges_of_rows(shape2 shape, cview<std::int32_t> row_ptr, cview<std::int32_t> col) {
  return judge(shape, rows_by_offset<std::int32_t>{row_ptr}, col);
}

block_counts count_blocks(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col, cview<std::int32_t> length) {
  return count_worthwhile(shape, rows_by_index{row}, col, [&] {
    return length.empty() ? offsets_of_rows<index_t>(row, shape.rows) : offsets_of_lengths(length);
  });
}
block_counts count_blocks_of_rows(shape2 shape, cview<std::int32_t> row_ptr, cview<std::int32_t> col) {
  return count_worthwhile(shape, rows_by_offset<std::int32_t>{row_ptr}, col,
                          [&] { return offsets_of<index_t>(row_ptr); });
}

index_t count_blocks_of(int edge, shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  block_counts blocks{};
  count_edges({edge}, shape, offsets_of_rows<index_t>(row, shape.rows), col, blocks);
  return blocks[edge];
}

} // namespace furrow
