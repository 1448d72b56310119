// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"
#include "backends/load_once.hpp"
#include "backends/unroll.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// SELL-C-sigma: slices of `height` rows, each padded to its longest row and stored by columns. Place
/// slice_ptr[s] + k height + l is entry k of the row at position s height + l.
///
/// Padding is marked by the column -1, so that x is not read there (a zero times infinity would not be zero). A warp
/// tests a column while it waits for memory; a length a row would be four bytes more to read.
template <class V, template <class> class Array> struct sell {
  shape2 shape;
  index_t height = 32;      ///< a power of two from 4 to 256
  Array<index_t> slice_ptr; ///< slices + 1 offsets in places; from 0 on, non-decreasing, multiples of height
  Array<std::int32_t> row;  ///< the row at each position, a permutation; empty where position p is row p
  Array<std::int32_t> col;  ///< ascending inside a row, 0 <= col < shape.cols; then -1
  Array<V> val;             ///< 0 where col is -1

  template <template <class> class To, class F> sell<V, To> map(F f) const {
    return {shape, height, f(slice_ptr), f(row), f(col), f(val)};
  }
};

/// Elements of x that a thread has under way at once.
inline constexpr int sell_batch = 8;

/// col[j] <- the column of entry at + j step; -1, as of padding, where that does not lie before `end`. Whole: all do.
template <bool Whole, class V>
FURROW_HD void load_columns(const sell<V, cview>& a, index_t at, index_t step, index_t end,
                            std::int32_t (&col)[sell_batch]) {
  FURROW_UNROLL
  for (int j = 0; j < sell_batch; ++j)
    col[j] = Whole || at + j * step < end ? load_once(a.col.data + at + j * step) : -1;
}

/// sum += val * x of the batch of entries at, at + step, ..., whose columns are known; `col` becomes those of the next
/// batch. So columns, values and elements of x are all under way at once. Whole: both batches lie before `end`.
template <bool Whole, class V>
FURROW_HD void add_batch(const sell<V, cview>& a, index_t at, index_t step, index_t end, cview<V> x,
                         std::int32_t (&col)[sell_batch], V& sum) {
  std::int32_t next[sell_batch];
  V val[sell_batch], element[sell_batch];
  FURROW_UNROLL
  for (int j = 0; j < sell_batch; ++j)
    val[j] = Whole || at + j * step < end ? load_once(a.val.data + at + j * step) : V(0);
  load_columns<Whole>(a, at + sell_batch * step, step, end, next);
  FURROW_UNROLL
  for (int j = 0; j < sell_batch; ++j) element[j] = col[j] < 0 ? V(0) : x[col[j]];
  FURROW_UNROLL
  for (int j = 0; j < sell_batch; ++j) {
    sum += val[j] * element[j];
    col[j] = next[j];
  }
}

/// One lane's share of (A x)[row at `position`]: every lane.size-th entry from lane.rank on. Height: that of the matrix
/// where the compiler may know it.
template <int Height = 0, class V>
FURROW_HD V partial(lanes lane, const sell<V, cview>& a, index_t position, cview<V> x) {
  const auto height = static_cast<std::uint32_t>(Height ? Height : a.height);
  const std::uint32_t slice = static_cast<std::uint32_t>(position) / height;
  const std::uint32_t inside = static_cast<std::uint32_t>(position) % height;
  const index_t end = a.slice_ptr[slice + 1], step = index_t(lane.size) * height;
  index_t at = a.slice_ptr[slice] + inside + index_t(lane.rank) * height;
  std::int32_t col[sell_batch];
  load_columns<false>(a, at, step, end, col);
  V sum{};
  for (; at + (2 * sell_batch - 1) * step < end; at += sell_batch * step)
    add_batch<true>(a, at, step, end, x, col, sum);
  for (; at < end; at += sell_batch * step) add_batch<false>(a, at, step, end, x, col, sum);
  return sum;
}

/// f(column, value) for a lane's share of the row at a position.
template <class V, class F> FURROW_HD void each_entry(lanes lane, const sell<V, cview>& a, index_t position, F f) {
  const index_t slice = position / a.height, end = a.slice_ptr[slice + 1], step = a.height * lane.size;
  for (index_t k = a.slice_ptr[slice] + position % a.height + lane.rank * a.height; k < end; k += step) {
    const std::int32_t col = load_once(a.col.data + k);
    if (col < 0) return;
    f(col, load_once(a.val.data + k));
  }
}

/// The row at a position of a sliced matrix.
template <class A> FURROW_HD index_t row_at(const A& a, index_t position) {
  return a.row.empty() ? position : a.row[position];
}

} // namespace furrow
