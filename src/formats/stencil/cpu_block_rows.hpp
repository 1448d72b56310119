// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "backends/cpu/isa.hpp"
#include "formats/csr/cpu_block_rows.hpp"

namespace furrow {

/// The rows [first, last) of Y <- A X for W vectors that lie row by row: those of the table, then those beside it. Each
/// row adds its entries in ascending order: |y - A x| <= (row length + 1) u |A| |x|.
template <int W, class V, class N>
void block_rows(const stencil<V, N, cview>& a, index_t first, index_t last, const V* x, V* y) {
  const int none = stencils_of(a);
  cpu::widest([&]() FURROW_INLINE {
    for (index_t row = first; row < last; ++row) {
      const int number = a.number.data[row];
      if (number == none) continue;
      V sum[W] = {};
      for (std::int32_t k = a.start.data[number]; k < a.start.data[number + 1]; ++k) {
        const V* const at = x + (row + a.offset.data[k]) * W;
        const V value = a.val.data[k];
#pragma omp simd
        for (int q = 0; q < W; ++q) sum[q] += value * at[q];
      }
#pragma omp simd
      for (int q = 0; q < W; ++q) y[row * W + q] = sum[q];
    }
  });
  for (index_t k = position_beside(a, first); k < a.rest_row.size && a.rest_row.data[k] < last; ++k)
    block_rows<W>(a.rest, k, k + 1, x, y + (a.rest_row.data[k] - k) * W);
}

} // namespace furrow
