// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/unroll.hpp"
#include "formats/csr/csr.hpp"

#include <vector>

namespace furrow {

/// Rows by the number of their stencil, which is the distances of its entries from the diagonal and their values. One
/// definition, three storages: host_array, gpu_array, cview. N is the type of the numbers: 8 bits for up to 255
/// stencils, 16 bits otherwise.
///
/// Stencils are told apart by the bits of their values, so nothing is lost. Rows whose stencil is not in the table lie
/// beside it, as csr.
template <class V, class N, template <class> class Array> struct stencil {
  shape2 shape;
  Array<N> number;            ///< of each row; stencils() where the row lies beside the table
  Array<std::int32_t> start;  ///< stencils + 1: where the entries of a stencil begin; non-decreasing from 0 on
  Array<std::int32_t> offset; ///< column - row; ascending inside a stencil
  Array<V> val;
  Array<std::int32_t> rest_row; ///< the rows beside the table, ascending
  csr<V, index_t, Array> rest;  ///< their entries

  template <template <class> class To, class F> stencil<V, N, To> map(F f) const {
    return {shape, f(number), f(start), f(offset), f(val), f(rest_row), rest.template map<To>(f)};
  }
};

/// How many the table has.
template <class A> int stencils_of(const A& a) { return static_cast<int>(a.start.size()) - 1; }
template <class V, class N> FURROW_HD int stencils_of(const stencil<V, N, cview>& a) {
  return static_cast<int>(a.start.size) - 1;
}

/// The position of a row that lies beside the table.
template <class V, class N> FURROW_HD index_t position_beside(const stencil<V, N, cview>& a, index_t row) {
  index_t low = 0, high = a.rest_row.size;
  while (low < high) {
    const index_t middle = (low + high) / 2;
    if (a.rest_row[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// One lane's share of (A x)[row].
template <class V, class N> FURROW_HD V partial(lanes lane, const stencil<V, N, cview>& a, index_t row, cview<V> x) {
  const int number = a.number[row];
  if (number >= stencils_of(a)) return partial(lane, a.rest, position_beside(a, row), x);
  V sum{};
  for (int k = a.start[number] + lane.rank; k < a.start[number + 1]; k += lane.size)
    sum += a.val[k] * x[row + a.offset[k]];
  return sum;
}

/// f(column, value) for a lane's share of a row.
template <class V, class N, class F>
FURROW_HD void each_entry(lanes lane, const stencil<V, N, cview>& a, index_t row, F f) {
  const int number = a.number[row];
  if (number >= stencils_of(a)) return each_entry(lane, a.rest, position_beside(a, row), f);
  for (int k = a.start[number] + lane.rank; k < a.start[number + 1]; k += lane.size) f(row + a.offset[k], a.val[k]);
}

/// Values depend on each other's bits in this format: there are no places for other ones.
template <class V, class N> std::vector<view<V>> value_arrays(stencil<V, N, host_array>&) { return {}; }

/// The table where a kernel reads it.
template <class V> struct stencil_table {
  const std::int32_t *start, *offset;
  const V* val;
};

/// The entries [k, k + B) of a stencil for R rows that all have it: R B independent reads before the first sum. `x`
/// points to the element of the first of these rows.
template <int B, class V, int R>
FURROW_HD void add_places(const stencil_table<V>& t, int k, const V* x, index_t apart, V (&sum)[R]) {
  V element[B][R];
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    const V* const at = x + t.offset[k + j];
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) element[j][r] = at[r * apart];
  }
  FURROW_UNROLL
  for (int j = 0; j < B; ++j) {
    const V value = t.val[k + j];
    FURROW_UNROLL
    for (int r = 0; r < R; ++r) sum[r] += value * element[j][r];
  }
}

/// sum[r] += what a stencil makes of row r; ascending entries, B at a time.
template <int B, class V, int R>
FURROW_HD void add_stencil(const stencil_table<V>& t, int number, const V* x, index_t apart, V (&sum)[R]) {
  const int end = t.start[number + 1];
  int k = t.start[number];
  for (; k + B <= end; k += B) add_places<B>(t, k, x, apart, sum);
  if constexpr (B > 4)
    if (k + 4 <= end) {
      add_places<4>(t, k, x, apart, sum);
      k += 4;
    }
  if constexpr (B > 3)
    if (k + 3 == end) return add_places<3>(t, k, x, apart, sum);
  if constexpr (B > 2)
    if (k + 2 == end) return add_places<2>(t, k, x, apart, sum);
  if (k + 1 == end) add_places<1>(t, k, x, apart, sum);
}

/// Whether the stencil stays inside the columns in the rows [first, first + rows).
template <class V>
FURROW_HD bool stays_inside(const stencil_table<V>& t, int number, index_t first, index_t rows, index_t cols) {
  const int begin = t.start[number], end = t.start[number + 1];
  return begin == end || (first + t.offset[begin] >= 0 && first + rows + t.offset[end - 1] <= cols);
}

} // namespace furrow
