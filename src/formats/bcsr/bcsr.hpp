// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Compressed rows of dense K x K blocks, 2 <= K <= 8. Block (r, c) holds the rows [rK, rK + K) and the columns
/// [cK, cK + K); blocks with an entry are stored, whole, and their other places are zero. The last block row and column
/// may stick out of the matrix. A stored zero of the triplets inside a block is one of those places: it does not come
/// back as an entry.
/// I is the type of the offsets: 32 bits where the matrix has less than 2^31 entries, 64 bits otherwise.
template <class V, class I, template <class> class Array> struct bcsr {
  shape2 shape;
  index_t edge = 2;          ///< K
  Array<I> block_ptr;        ///< block rows + 1 offsets; block_ptr[0] == 0; non-decreasing
  Array<std::int32_t> block; ///< block columns; ascending inside a block row; 0 <= block * K < shape.cols
  Array<V> val;              ///< K K a block, column by column; zero where the place is outside of the matrix

  template <template <class> class To, class F> bcsr<V, I, To> map(F f) const {
    return {shape, edge, f(block_ptr), f(block), f(val)};
  }
};

/// Blocks of edge K that cover n rows or columns.
FURROW_HD constexpr index_t blocks_over(index_t n, index_t edge) { return (n + edge - 1) / edge; }

/// f(column, value) for a lane's share of a row: every lane.size-th block.
template <class V, class I, class F>
FURROW_HD void each_entry(lanes lane, const bcsr<V, I, cview>& a, index_t row, F f) {
  const index_t own = row / a.edge, inside = row % a.edge;
  for (index_t b = a.block_ptr[own] + lane.rank; b < index_t(a.block_ptr[own + 1]); b += lane.size)
    for (index_t c = 0; c < a.edge; ++c)
      if (const index_t col = a.block[b] * a.edge + c; col < a.shape.cols)
        f(col, a.val[(b * a.edge + c) * a.edge + inside]);
}

} // namespace furrow
