// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "row_end.hpp"

#include "backends/load_once.hpp"

namespace furrow::gpu {

/// What `ending` reads beside the sum of a row, asked for before the row is walked: behind the walk it would be waited
/// for once more. It comes into the first cache: registers would have to be spilled.
template <class V, int N> __device__ void bring_end_near(const row_end<V, N>& ending, V beta, const V* y, index_t row) {
  if constexpr (N > 0) {
    if (beta != V(0)) bring_near(ending.z + row);
#pragma unroll
    for (int k = 0; k < row_end<V, N>::vectors; ++k)
      if (ending.u[k] != y) bring_near(ending.u[k] + row);
  }
}

} // namespace furrow::gpu
