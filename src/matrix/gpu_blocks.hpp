// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

/// Aligned K x K blocks of rows on a GPU, a thread a block row.
namespace furrow::gpu {

/// found(n, c) for the n-th block of block row r, in block column c, in ascending order: the lists of its rows merged,
/// as `walk_blocks` does it. Their number.
template <int K, class F>
FURROW_HD index_t each_block(index_t rows, const index_t* row_ptr, const std::int32_t* col, index_t r, F found) {
  constexpr std::uint32_t none = 0xffffffffu;
  index_t at[K], end[K];
  std::uint32_t next[K];
  for (int i = 0; i < K; ++i) {
    const index_t row = r * K + i;
    at[i] = row < rows ? row_ptr[row] : 0;
    end[i] = row < rows ? row_ptr[row + 1] : 0;
    next[i] = at[i] < end[i] ? static_cast<std::uint32_t>(col[at[i]]) / K : none;
  }
  for (index_t blocks = 0;; ++blocks) {
    std::uint32_t c = none;
    for (int i = 0; i < K; ++i) c = next[i] < c ? next[i] : c;
    if (c == none) return blocks;
    found(blocks, static_cast<std::int32_t>(c));
    for (int i = 0; i < K; ++i)
      while (next[i] == c) next[i] = ++at[i] < end[i] ? static_cast<std::uint32_t>(col[at[i]]) / K : none;
  }
}

/// to[r] <- the blocks of block row r.
template <int K> struct count_blocks_of_row {
  index_t rows;
  const index_t* row_ptr;
  const std::int32_t* col;
  index_t* to;
  FURROW_HD void operator()(index_t r) const {
    to[r] = each_block<K>(rows, row_ptr, col, r, [](index_t, std::int32_t) {});
  }
};

} // namespace furrow::gpu
