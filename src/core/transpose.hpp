// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// A', sorted as triplets are. Beside `a` it takes as much again and eight bytes a column. Serial; two passes.
template <class V> coo<V> transposed(const coo<V>& a) {
  host_array<index_t> next(a.shape.cols + 1, 0); // where the next entry of a column goes
  for (const std::int32_t j : a.col) ++next[j + 1];
  for (index_t j = 0; j < a.shape.cols; ++j) next[j + 1] += next[j];
  coo<V> t{{a.shape.cols, a.shape.rows},
           host_array<std::int32_t>(a.nnz()),
           host_array<std::int32_t>(a.nnz()),
           host_array<V>(a.nnz())};
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t to = next[a.col[k]]++;
    t.row[to] = a.col[k];
    t.col[to] = a.row[k];
    t.val[to] = a.val[k];
  }
  return t;
}

} // namespace furrow
