// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"
#include "backends/row_tiles.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Rows padded to one width and stored by columns. One definition, three storages: host_array, gpu_array, cview. Bell
/// and Garland 2008, section 2.2. Padding has the column -1: no product reads x for it.
template <class V, template <class> class Array> struct ell {
  shape2 shape;
  index_t width = 0;  ///< places of a row; >= 0
  index_t stride = 0; ///< padded_rows(shape.rows)
  /// Entry k of row r at k * stride + r; ascending inside a row, 0 <= col < shape.cols; -1 behind the last entry of a
  /// row and in the rows behind the last.
  Array<std::int32_t> col;
  Array<V> val; ///< beside col; 0 where col is -1

  template <template <class> class To, class F> ell<V, To> map(F f) const {
    return {shape, width, stride, f(col), f(val)};
  }
};

/// One lane's share of (A x)[row].
template <class V> FURROW_HD V partial(lanes lane, const ell<V, cview>& a, index_t row, cview<V> x) {
  V sum{};
  for (index_t k = lane.rank; k < a.width; k += lane.size) {
    const std::int32_t col = a.col[k * a.stride + row];
    if (col < 0) break;
    sum += a.val[k * a.stride + row] * x[col];
  }
  return sum;
}

/// f(column, value) for a lane's share of a row.
template <class V, class F> FURROW_HD void each_entry(lanes lane, const ell<V, cview>& a, index_t row, F f) {
  for (index_t k = lane.rank; k < a.width; k += lane.size) {
    const std::int32_t col = a.col[k * a.stride + row];
    if (col < 0) return;
    f(col, a.val[k * a.stride + row]);
  }
}

/// Columns [k, k + B) of the places of a thread's R rows: 2 R B independent reads, then R B of x. False where all of
/// them are padding, and so is what follows.
template <int B, class V, int R>
FURROW_HD bool add_columns(const ell<V, cview>& a, index_t k, index_t row, index_t apart, cview<V> x, V (&sum)[R]) {
  std::int32_t col[B][R];
  V value[B][R], element[B][R];
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    const index_t at = (k + j) * a.stride + row;
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) {
      const bool in = row + r * apart < a.shape.rows;
      col[j][r] = in ? read_once(a.col.data + at + r * apart) : -1;
      value[j][r] = in ? read_once(a.val.data + at + r * apart) : V(0);
    }
  }
  bool any = false;
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) {
      element[j][r] = col[j][r] >= 0 ? x.data[col[j][r]] : V(0);
      any = any || col[j][r] >= 0;
    }
  }
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) sum[r] += value[j][r] * element[j][r];
  }
  return any;
}

/// sum[r] <- (A x)[row + r tile.apart] for the rows that exist.
template <class V, int R>
FURROW_HD void tile_sums(const ell<V, cview>& a, row_tile tile, index_t row, cview<V> x, V (&sum)[R]) {
  index_t k = 0;
  for (; k + 4 <= a.width; k += 4)
    if (!add_columns<4>(a, k, row, tile.apart, x, sum)) return;
  if (k + 3 == a.width) add_columns<3>(a, k, row, tile.apart, x, sum);
  else if (k + 2 == a.width) add_columns<2>(a, k, row, tile.apart, x, sum);
  else if (k + 1 == a.width) add_columns<1>(a, k, row, tile.apart, x, sum);
}

} // namespace furrow
