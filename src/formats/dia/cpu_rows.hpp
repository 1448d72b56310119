// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "backends/row_kernel.hpp"

namespace furrow {

/// Rows of diagonals on the CPU, in place of `each_row`. The sums of a block of rows stay in the first cache while its
/// diagonals go by, four at a time and vectorised over the rows. Each row adds its diagonals in ascending order, so
/// rows may be cut anywhere: |y - A x| <= (row length + 1) u |A| |x|.
struct diagonal_rows {
  template <class V> static void sums(const dia<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
    sums(a, first, last, x, out, [&](index_t d) { return a.val.data + d * a.stride; });
  }
  /// The same with values that lie elsewhere: value_of(d) + row points to that of diagonal d, for rows that have it.
  template <class V, class F>
  static void sums(const dia<V, cview>& a, index_t first, index_t last, cview<V> x, V* out, const F& value_of) {
    for (index_t row = first; row < last; row += row_block)
      block(a, row, std::min(row_block, last - row), x.data, out + (row - first), value_of);
  }

private:
  template <class V, class F>
  static void block(const dia<V, cview>& a, index_t row, index_t count, const V* x, V* out, const F& value_of) {
    const index_t diagonals = a.offset.size;
    std::fill_n(out, count, V(0));
    const auto val = [&](index_t d) { return value_of(d) + row; };
    const auto element = [&](index_t d) { return x + (row + a.offset[d]); };
    cpu::widest([&]() FURROW_INLINE {
      for (index_t d = 0; d < diagonals;) {
        const bool four = d + 4 <= diagonals && row + a.offset[d] >= 0 && //
                          row + count + a.offset[d + 3] <= a.shape.cols;
        if (four) {
          const V *const v0 = val(d), *const v1 = val(d + 1), *const v2 = val(d + 2), *const v3 = val(d + 3);
          const V *const x0 = element(d), *const x1 = element(d + 1), *const x2 = element(d + 2),
                         *const x3 = element(d + 3);
#pragma omp simd
          for (index_t i = 0; i < count; ++i) {
            V sum = out[i];
            sum += v0[i] * x0[i];
            sum += v1[i] * x1[i];
            sum += v2[i] * x2[i];
            sum += v3[i] * x3[i];
            out[i] = sum;
          }
          d += 4;
        } else {
          const index_t begin = std::max<index_t>(0, -(row + a.offset[d]));
          const index_t end = std::min(count, a.shape.cols - row - a.offset[d]);
          const V *const v = val(d), *const xd = element(d);
#pragma omp simd
          for (index_t i = begin; i < end; ++i) out[i] += v[i] * xd[i];
          ++d;
        }
      }
    });
  }
};

} // namespace furrow
