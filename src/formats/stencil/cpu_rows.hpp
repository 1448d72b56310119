// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

namespace furrow {

/// Rows of stencils on the CPU, in place of `each_row`. Neighbouring rows of the same stencil are one loop over vectors
/// of rows: a value goes to all lanes, elements of x are consecutive, and neither columns nor numbers are read in it.
/// Up to four shorter runs of stencils of the same length go side by side. Each row adds its entries in ascending order
/// into one sum, so rows may be cut anywhere: |y - A x| <= (row length + 1) u |A| |x|.
struct stencil_runs {
  template <class V, class N>
  static void sums(const stencil<V, N, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

} // namespace furrow
