// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/coo.hpp>

namespace furrow {

/// All elements of a matrix, zeros too, row by row without gaps.
template <class V, template <class> class Array> struct dense_matrix {
  shape2 shape;
  Array<V> val; ///< rows * cols; A[i, j] = val[i * cols + j]

  template <template <class> class To, class F> dense_matrix<V, To> map(F f) const { return {shape, f(val)}; }
};

} // namespace furrow
