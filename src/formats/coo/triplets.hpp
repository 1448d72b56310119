// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// Triplets as a format that multiplies: the arrays of furrow/coo.hpp in any storage.
template <class V, template <class> class Array> struct triplets {
  shape2 shape;
  Array<std::int32_t> row; ///< nnz; non-decreasing; 0 <= row < shape.rows
  Array<std::int32_t> col; ///< nnz; ascending inside a row; 0 <= col < shape.cols
  Array<V> val;            ///< nnz

  template <template <class> class To, class F> triplets<V, To> map(F f) const {
    return {shape, f(row), f(col), f(val)};
  }
};

template <class V> coo<V> to_coo(triplets<V, host_array> a) {
  return {a.shape, std::move(a.row), std::move(a.col), std::move(a.val)};
}

} // namespace furrow
