// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// A rank's rows: `own` between its rows and its own columns, `far` of those rows that `far_rows` names, in columns
/// behind them. Both have their rows in order.
template <class V> coo<V> side_by_side(const coo<V>& own, const coo<V>& far, cview<std::int32_t> far_rows) {
  const index_t rows = own.shape.rows, nnz = own.nnz() + far.nnz();
  coo<V> all{
      {rows, rows + far.shape.cols}, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  index_t at = 0, next = 0;
  for (index_t i = 0, k = 0; i < rows; ++i) {
    for (; k < own.nnz() && own.row[k] == i; ++k, ++at)
      all.row[at] = own.row[k], all.col[at] = own.col[k], all.val[at] = own.val[k];
    for (; next < far.nnz() && far_rows[far.row[next]] == i; ++next, ++at) {
      all.row[at] = static_cast<std::int32_t>(i);
      all.col[at] = static_cast<std::int32_t>(rows + far.col[next]), all.val[at] = far.val[next];
    }
  }
  return all;
}

} // namespace furrow
