// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/row_tiles.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Padded diagonals. One definition, three storages: host_array, gpu_array, cview. Bell and Garland 2008, section 2.1.
///
/// A place holds an entry or 0: an entry with the value 0 is not told from padding. A product multiplies every place
/// inside the matrix by its element of x, and reads no x outside. With finite x the zeros change no bit; an infinity
/// or a NaN in x reaches every row that one of the diagonals crosses there, so it may spread but never hides.
template <class V, template <class> class Array> struct dia {
  shape2 shape;
  index_t stride = 0;         ///< padded_rows(shape.rows)
  Array<std::int32_t> offset; ///< column minus row of each diagonal; ascending; -shape.rows < offset < shape.cols
  Array<V> val;               ///< A[row, row + offset[d]] at d * stride + row; 0 outside the matrix

  template <template <class> class To, class F> dia<V, To> map(F f) const { return {shape, stride, f(offset), f(val)}; }
};

/// Whether all diagonals stay inside the matrix in rows [first, first + rows).
template <class V> FURROW_HD bool inside(const dia<V, cview>& a, index_t first, index_t rows) {
  if (first + rows > a.shape.rows) return false;
  if (a.offset.empty()) return true;
  return first + a.offset[0] >= 0 && first + rows - 1 + a.offset[a.offset.size - 1] < a.shape.cols;
}

/// Diagonals [d, d + B) for a thread's R rows: 2 R B independent reads before the first sum.
template <bool Inside, int B, class V, int R>
FURROW_HD void add_diagonals(const dia<V, cview>& a, index_t d, index_t row, index_t apart, cview<V> x, V (&sum)[R]) {
  V value[B][R], element[B][R];
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    const V* const val = a.val.data + (d + j) * a.stride + row;
    const index_t col = row + a.offset[d + j];
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) {
      if constexpr (Inside) {
        value[j][r] = read_once(val + r * apart);
        element[j][r] = x.data[col + r * apart];
      } else {
        const index_t c = col + r * apart;
        const bool in = row + r * apart < a.shape.rows && c >= 0 && c < a.shape.cols;
        value[j][r] = in ? read_once(val + r * apart) : V(0);
        element[j][r] = in ? x.data[c] : V(0);
      }
    }
  }
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) sum[r] += value[j][r] * element[j][r];
  }
}

/// All diagonals for a thread's rows, in ascending order, four at a time.
template <bool Inside, class V, int R>
FURROW_HD void add_all_diagonals(const dia<V, cview>& a, index_t row, index_t apart, cview<V> x, V (&sum)[R]) {
  const index_t diagonals = a.offset.size;
  index_t d = 0;
  for (; d + 4 <= diagonals; d += 4) add_diagonals<Inside, 4>(a, d, row, apart, x, sum);
  if (d + 3 == diagonals) add_diagonals<Inside, 3>(a, d, row, apart, x, sum);
  else if (d + 2 == diagonals) add_diagonals<Inside, 2>(a, d, row, apart, x, sum);
  else if (d + 1 == diagonals) add_diagonals<Inside, 1>(a, d, row, apart, x, sum);
}

/// sum[r] <- (A x)[row + r tile.apart] for the rows that exist. Tiles in the middle of the matrix go without checks.
template <class V, int R>
FURROW_HD void tile_sums(const dia<V, cview>& a, row_tile tile, index_t row, cview<V> x, V (&sum)[R]) {
  if (inside(a, tile.first, tile.rows)) add_all_diagonals<true>(a, row, tile.apart, x, sum);
  else add_all_diagonals<false>(a, row, tile.apart, x, sum);
}

/// f(column, value) for a lane's share of a row, padding inside the matrix included.
template <class V, class F> FURROW_HD void each_entry(lanes lane, const dia<V, cview>& a, index_t row, F f) {
  for (index_t d = lane.rank; d < a.offset.size; d += lane.size) {
    const index_t col = row + a.offset[d];
    if (col >= 0 && col < a.shape.cols) f(col, a.val[d * a.stride + row]);
  }
}

} // namespace furrow
