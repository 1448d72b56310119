// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/cpu/isa.hpp"

namespace furrow {

/// The rows [first, last) of Y <- A X for W vectors that lie row by row: an entry of A is read once, and the W elements
/// of X that it meets lie side by side. Two sums a vector, so that an addition need not wait for the one before.
/// |y - A x| <= (row length + 1) u |A| |x| for every row and vector.
template <int W, class V, class I>
void block_rows(const csr<V, I, cview>& a, index_t first, index_t last, const V* x, V* y) {
  cpu::widest([&]() FURROW_INLINE {
    for (index_t row = first; row < last; ++row) {
      V even[W] = {}, odd[W] = {};
      index_t k = a.row_ptr.data[row];
      const index_t end = a.row_ptr.data[row + 1];
      for (; k + 2 <= end; k += 2) {
        const V *const at = x + index_t(a.col.data[k]) * W, *const next = x + index_t(a.col.data[k + 1]) * W;
        const V v = a.val.data[k], w = a.val.data[k + 1];
#pragma omp simd
        for (int q = 0; q < W; ++q) even[q] += v * at[q];
#pragma omp simd
        for (int q = 0; q < W; ++q) odd[q] += w * next[q];
      }
      if (k < end) {
        const V* const at = x + index_t(a.col.data[k]) * W;
        const V v = a.val.data[k];
#pragma omp simd
        for (int q = 0; q < W; ++q) even[q] += v * at[q];
      }
#pragma omp simd
      for (int q = 0; q < W; ++q) y[row * W + q] = even[q] + odd[q];
    }
  });
}

} // namespace furrow
