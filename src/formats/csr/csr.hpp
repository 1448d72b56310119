// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"
#include "backends/unroll.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Compressed sparse rows. One definition, three storages: host_array, gpu_array, cview.
/// I is the type of the offsets: 32 bits where nnz < 2^31, 64 bits otherwise. Columns are always 32 bits.
template <class V, class I, template <class> class Array> struct csr {
  shape2 shape;
  Array<I> row_ptr;        ///< rows + 1 offsets; row_ptr[0] == 0; non-decreasing; row_ptr[rows] == nnz
  Array<std::int32_t> col; ///< nnz; ascending inside a row; 0 <= col < shape.cols
  Array<V> val;            ///< nnz

  template <template <class> class To, class F> csr<V, I, To> map(F f) const {
    return {shape, f(row_ptr), f(col), f(val)};
  }
};

/// One lane's share of (A x)[row].
template <class V, class I> FURROW_HD V partial(lanes lane, const csr<V, I, cview>& a, index_t row, cview<V> x) {
  V sum{};
  for (I k = a.row_ptr[row] + lane.rank, end = a.row_ptr[row + 1]; k < end; k += lane.size)
    sum += a.val[k] * x[a.col[k]];
  return sum;
}

/// f(column, value) for a lane's share of a row.
template <class V, class I, class F>
FURROW_HD void each_entry(lanes lane, const csr<V, I, cview>& a, index_t row, F f) {
  FURROW_UNROLL_BY(4)
  for (I k = a.row_ptr[row] + lane.rank, end = a.row_ptr[row + 1]; k < end; k += lane.size) f(a.col[k], a.val[k]);
}
} // namespace furrow
