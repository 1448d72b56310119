// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <furrow/coo.hpp>

namespace furrow {

/// Columns that have entries: the elements of x that y = A x reads. Parallel; a byte a column.
template <class V> index_t touched_columns(const coo<V>& a);

/// Bytes of y = A x as a benchmark counts them: the stored matrix, y, and of x what is read.
template <class V> double bytes_moved(const any_operator<V>& a, index_t touched) {
  return a.bytes_per_apply() - double(sizeof(V)) * double(a.shape().cols - touched);
}

} // namespace furrow
