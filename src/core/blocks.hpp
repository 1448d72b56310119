// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

/// Aligned K x K blocks of sorted triplets: block (r, c) holds the rows [rK, rK + K) and the columns [cK, cK + K).
namespace furrow {

inline constexpr int least_edge = 2, most_edge = 8;

/// f(std::integral_constant<int, K>) for the K that equals `edge`, 2 to 8.
template <class F> decltype(auto) with_edge(index_t edge, F&& f) {
  switch (edge) {
  case 2:
    return f(std::integral_constant<int, 2>{});
  case 3:
    return f(std::integral_constant<int, 3>{});
  case 4:
    return f(std::integral_constant<int, 4>{});
  case 5:
    return f(std::integral_constant<int, 5>{});
  case 6:
    return f(std::integral_constant<int, 6>{});
  case 7:
    return f(std::integral_constant<int, 7>{});
  default:
    return f(std::integral_constant<int, 8>{});
  }
}

/// Where the rows of sorted entries begin and end: by the row of each entry,
struct rows_by_index {
  cview<std::int32_t> row;
  index_t begin(index_t r) const { return std::lower_bound(row.begin(), row.end(), r) - row.begin(); }
  /// The entry behind those of row r, of which k is the first: the `usual` ones there, or those that a walk finds.
  index_t end(index_t r, index_t k, index_t usual) const {
    const index_t guess = k + usual;
    if (usual > 0 && guess <= row.size && row[guess - 1] == r && (guess == row.size || row[guess] != r)) return guess;
    while (k < row.size && row[k] == r) ++k;
    return k;
  }
};
/// or by the offsets of the rows.
template <class I> struct rows_by_offset {
  cview<I> row_ptr;
  index_t begin(index_t r) const { return row_ptr[std::min(r, row_ptr.size - 1)]; }
  index_t end(index_t r, index_t, index_t) const { return begin(r + 1); }
};

/// Walks block rows [first, last) in order and in each of them the blocks that have entries, by ascending column: rows
/// with the same columns side by side, other ones merged, so nothing is held but K positions. open(block_row) before
/// each block row, block(block_row, block_col) for each block, then entry(k, i, j) for each entry k of it, at place
/// (i, j).
template <int K, class Rows, class Open, class Block, class Entry>
void walk_blocks(Rows rows, cview<std::int32_t> col, index_t first, index_t last, Open open, Block block, Entry entry) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const auto block_of = [&](index_t k) { return static_cast<std::uint32_t>(col[k]) / K; };
  index_t k = rows.begin(first * K), length = 0;
  for (index_t r = first; r < last; ++r) {
    open(r);
    index_t at[K], end[K];
    bool alike = true;
    for (int i = 0; i < K; ++i) {
      at[i] = k;
      k = end[i] = rows.end(r * K + i, k, length);
      length = k - at[i];
      alike = alike && length == end[0] - at[0] &&
              std::equal(col.begin() + at[0], col.begin() + end[0], col.begin() + at[i]);
    }
    if (alike) {
      index_t begin = -K; // of the columns of the block
      for (index_t n = 0; n < length; ++n) {
        const index_t c = col[at[0] + n];
        if (c >= begin + K) {
          begin = c / K * K;
          block(r, static_cast<std::int32_t>(c / K));
        }
        for (int i = 0; i < K; ++i) entry(at[i] + n, i, static_cast<int>(c - begin));
      }
      continue;
    }
    std::uint32_t next[K]; // the block that the next entry of each row is in
    for (int i = 0; i < K; ++i) next[i] = at[i] < end[i] ? block_of(at[i]) : none;
    for (;;) {
      std::uint32_t c = next[0];
      for (int i = 1; i < K; ++i) c = std::min(c, next[i]);
      if (c == none) break;
      block(r, static_cast<std::int32_t>(c));
      for (int i = 0; i < K; ++i)
        while (next[i] == c) {
          entry(at[i], i, static_cast<int>(col[at[i]] - static_cast<std::int32_t>(c * K)));
          next[i] = ++at[i] < end[i] ? block_of(at[i]) : none;
        }
    }
  }
}

/// Blocks whose places are more than this many times the entries are not worth a count: no precision makes them
/// smaller than compressed rows.
inline constexpr double most_fill = 1.75;

/// From this many entries on, sizes are judged by a sample before they are counted.
inline constexpr index_t blocks_sampled_from = 1 << 15;

/// Places an entry of K x K blocks.
inline double fill_of(index_t edge, index_t blocks, index_t entries) {
  return entries ? double(blocks) * double(edge) * double(edge) / double(entries) : 0;
}

/// In place of a number of blocks: they are not counted, because they have more than `most_fill` places an entry in a
/// sample of the rows (`sampled_block_rows`), or there take a quarter more bytes in double precision than those of
/// another edge.
inline constexpr index_t too_full = -1, surpassed = -2;

/// [K]: one of those, or 0 for an edge that is worth a count. fill: places an entry in the sample.
using edge_verdicts = std::array<index_t, most_edge + 1>;
inline edge_verdicts judge_edges(const std::array<double, most_edge + 1>& fill) {
  const auto bytes = [&](int k) { return fill[k] * (8 + 4.0 / (k * k)); };
  double least = std::numeric_limits<double>::infinity();
  for (int k = least_edge; k <= most_edge; ++k)
    if (fill[k] > 0) least = std::min(least, bytes(k)); // a sample may have no entries
  edge_verdicts verdicts{};
  for (int k = least_edge; k <= most_edge; ++k)
    verdicts[k] = fill[k] > most_fill ? too_full : bytes(k) > 1.25 * least ? surpassed : 0;
  return verdicts;
}

/// Of a matrix with entries, by its sample.
edge_verdicts judge_edges(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col);
/// The same of compressed rows.
edge_verdicts judge_edges_of_rows(shape2 shape, cview<std::int32_t> row_ptr, cview<std::int32_t> col);

/// [K]: aligned K x K blocks with entries, K from 2 to 8: exact, or `too_full` or `surpassed` in a sample of a large
/// matrix. The same for every number of threads.
/// length: of every row, or empty where they are not known; they save a pass over the rows of the entries.
std::array<index_t, most_edge + 1> count_blocks(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col,
                                                cview<std::int32_t> length = {});
/// The same of compressed rows.
std::array<index_t, most_edge + 1> count_blocks_of_rows(shape2 shape, cview<std::int32_t> row_ptr,
                                                        cview<std::int32_t> col);
/// Those of one edge, of any matrix: exact.
index_t count_blocks_of(int edge, shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col);

} // namespace furrow
