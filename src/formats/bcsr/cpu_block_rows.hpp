// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include "backends/cpu/isa.hpp"
#include "core/blocks.hpp"

#include <algorithm>

namespace furrow {

/// Block row r of A times W vectors that lie row by row. `x_end`: as in `bcsr_rows`, for the W vectors.
template <int K, int W, class V, class I>
FURROW_INLINE inline void block_row_of_block(const bcsr<V, I, cview>& a, index_t r, const V* x, std::int32_t end,
                                             const V* x_end, V (&sum)[K][W]) {
  for (index_t b = a.block_ptr.data[r], last = a.block_ptr.data[r + 1]; b < last; ++b) {
    const V* const val = a.val.data + b * K * K;
    const std::int32_t c = a.block.data[b];
    const V* const at = c == end ? x_end : x + index_t(c) * K * W;
    for (int j = 0; j < K; ++j)
#pragma GCC unroll 8
      for (int i = 0; i < K; ++i) {
#pragma omp simd
        for (int q = 0; q < W; ++q) sum[i][q] += val[j * K + i] * at[j * W + q];
      }
  }
}

/// The rows [first, last) of Y <- A X for W vectors that lie row by row: a block of A is read once. first and last are
/// the begins of block rows, or last is the last row.
template <int K, int W, class V, class I>
FURROW_INLINE inline void block_rows_of_edge(const bcsr<V, I, cview>& a, index_t first, index_t last, const V* x,
                                             V* y) {
  V x_end[K * W] = {};
  const auto end = static_cast<std::int32_t>(a.shape.cols / K);
  for (index_t e = index_t(end) * K * W; e < a.shape.cols * W; ++e) x_end[e - index_t(end) * K * W] = x[e];
  for (index_t r = first / K; r * K < last; ++r) {
    V sum[K][W] = {};
    block_row_of_block<K, W>(a, r, x, end, x_end, sum);
    const index_t rows = std::min<index_t>(K, last - r * K);
    for (index_t i = 0; i < rows; ++i)
      for (int q = 0; q < W; ++q) y[(r * K + i) * W + q] = sum[i][q];
  }
}

template <int W, class V, class I>
void block_rows(const bcsr<V, I, cview>& a, index_t first, index_t last, const V* x, V* y) {
  with_edge(a.edge,
            [&](auto k) { cpu::widest([&]() FURROW_INLINE { block_rows_of_edge<k, W>(a, first, last, x, y); }); });
}

} // namespace furrow
