// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include "row_offsets.hpp"
#include "sample.hpp"

#include "backends/cpu/parallel.hpp"

#include <cstring>
#include <optional>
#include <vector>

namespace furrow {
namespace {

using block_counts = std::array<index_t, most_edge + 1>;

/// Places an entry there.
template <int K> double sampled_fill(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  index_t blocks = 0, entries = 0;
  const sampled_block_rows sample{(shape.rows + K - 1) / K};
  for (index_t k = 0; k < sample.stretches; ++k)
    walk_blocks<K>(
        row, col, sample[k].first, sample[k].first + sample[k].count, [](index_t) {},
        [&](index_t, std::int32_t) { ++blocks; }, [&](index_t, int, int) { ++entries; });
  return fill_of(K, blocks, entries);
}

/// Rows by their first entry, and which of them have the columns of the row before.
struct row_lists {
  host_array<index_t> begin;
  host_array<char> repeats;
};

row_lists lists_of(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  row_lists lists{offsets_of_rows<index_t>(row, shape.rows), host_array<char>(shape.rows)};
  cpu::for_each_range(shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r) {
      const index_t here = lists.begin[r], length = lists.begin[r + 1] - here;
      const index_t before = r ? lists.begin[r - 1] : 0;
      lists.repeats[r] = r > 0 && here - before == length &&
                         std::memcmp(col.data + here, col.data + before, static_cast<std::size_t>(length) * 4) == 0;
    }
  });
  return lists;
}

/// Blocks that the entries [at, end) of one row touch.
template <int K> index_t count_alone(const std::int32_t* col, index_t at, index_t end) {
  index_t blocks = at < end;
  for (++at; at < end; ++at)
    blocks += static_cast<std::uint32_t>(col[at]) / K != static_cast<std::uint32_t>(col[at - 1]) / K;
  return blocks;
}

/// Blocks of one block row: those of its rows merged, rows like the one before left out.
template <int K> index_t count_block_row(const row_lists& lists, const std::int32_t* col, index_t r, index_t last) {
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
  std::uint32_t next[K];
  for (int i = 0; i < rows; ++i) next[i] = static_cast<std::uint32_t>(col[at[i]]) / K;
  index_t blocks = 0;
  for (;;) {
    std::uint32_t c = next[0];
    for (int i = 1; i < rows; ++i) c = std::min(c, next[i]);
    if (c == none) return blocks;
    ++blocks;
    for (int i = 0; i < rows; ++i)
      while (next[i] == c) next[i] = ++at[i] < end[i] ? static_cast<std::uint32_t>(col[at[i]]) / K : none;
  }
}

template <int K> index_t count_edge(shape2 shape, const row_lists& lists, const std::int32_t* col) {
  const index_t block_rows = (shape.rows + K - 1) / K;
  const index_t parts = std::clamp<index_t>(lists.begin[shape.rows] >> 13, 1, std::min<index_t>(block_rows, 1024));
  std::vector<index_t> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    const index_t last = cpu::part_begin(block_rows, parts, part + 1);
    index_t blocks = 0;
    for (index_t r = cpu::part_begin(block_rows, parts, part); r < last; ++r)
      blocks += count_block_row<K>(lists, col, r, std::min(shape.rows, (r + 1) * K));
    found[part] = blocks;
  });
  index_t blocks = 0;
  for (const index_t n : found) blocks += n;
  return blocks;
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

std::array<bool, most_edge + 1> hopeless_edges(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  std::array<bool, most_edge + 1> hopeless{};
  cpu::for_each_task(most_edge - least_edge + 1, [&](index_t k) {
    const index_t edge = least_edge + k;
    hopeless[edge] = with_edge(edge, [&](auto e) { return sampled_fill<e>(shape, row, col); }) > most_fill;
  });
  return hopeless;
}

block_counts count_blocks(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  block_counts blocks{};
  if (row.empty()) return blocks;
  std::array<bool, most_edge + 1> hopeless{};
  if (row.size >= blocks_sampled_from) hopeless = hopeless_edges(shape, row, col);
  std::optional<row_lists> lists;
  for (int k = least_edge; k <= most_edge; ++k) {
    blocks[k] = -1;
    if (hopeless[k]) continue;
    if (!lists) lists = lists_of(shape, row, col);
    blocks[k] = with_edge(k, [&](auto edge) { return count_edge<edge>(shape, *lists, col.data); });
  }
  return blocks;
}

} // namespace furrow
