// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>

namespace furrow {

/// y[i] += sum over k < D of v[k][i] x[k][i], 0 <= i < rows, for W vectors that lie row by row.
template <int D, int W, class V>
FURROW_INLINE inline void add_diagonals_of_block(const V* const (&v)[D], const V* const (&x)[D], index_t rows, V* y) {
  for (index_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (int q = 0; q < W; ++q) {
      V sum = y[i * W + q];
      for (int k = 0; k < D; ++k) sum += v[k][i] * x[k][i * W + q];
      y[i * W + q] = sum;
    }
  }
}

/// The rows [first, last) of Y <- A X for W vectors that lie row by row: tiles of rows whose sums stay in the first
/// cache while the diagonals go by, four at a time where they are inside the matrix. Each row adds its diagonals in
/// ascending order: |y - A x| <= (row length + 1) u |A| |x|.
template <int W, class V> void block_rows(const dia<V, cview>& a, index_t first, index_t last, const V* x, V* y) {
  constexpr index_t tile = 64;
  const index_t diagonals = a.offset.size;
  cpu::widest([&]() FURROW_INLINE {
    for (index_t row = first; row < last; row += tile) {
      const index_t rows = std::min(tile, last - row);
      std::fill_n(y + row * W, rows * W, V(0));
      for (index_t d = 0; d < diagonals;) {
        const index_t column = row + a.offset.data[d];
        const V* const v = a.val.data + d * a.stride + row;
        if (d + 4 <= diagonals && column >= 0 && row + rows + a.offset.data[d + 3] <= a.shape.cols) {
          const V* const values[4] = {v, v + a.stride, v + 2 * a.stride, v + 3 * a.stride};
          const V* const at[4] = {x + column * W, x + (row + a.offset.data[d + 1]) * W,
                                  x + (row + a.offset.data[d + 2]) * W, x + (row + a.offset.data[d + 3]) * W};
          add_diagonals_of_block<4, W>(values, at, rows, y + row * W);
          d += 4;
          continue;
        }
        const index_t begin = std::max<index_t>(0, -column), end = std::min(rows, a.shape.cols - column);
        const V* const values[1] = {v + begin};
        const V* const at[1] = {x + (column + begin) * W};
        add_diagonals_of_block<1, W>(values, at, end - begin, y + (row + begin) * W);
        ++d;
      }
    }
  });
}

} // namespace furrow
