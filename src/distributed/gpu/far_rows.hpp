// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/reduce.hpp"

/// The entries of a rank's rows in columns of others, which a kernel behind the product with its own multiplies.
namespace furrow::gpu {

inline constexpr int far_threads = 256;
inline constexpr double long_far_row = 6; ///< entries on average from which on eight threads take a row

#if defined(__CUDACC__)
/// Waits until all neighbours have told of this product. By all threads of a block.
__device__ inline void wait_for(const arrivals& when) {
  if (!when.product) return;
  const int n = int(threadIdx.x);
  if (n < when.neighbours) {
    const std::uint32_t product = *when.product;
    const int whom = when.rank_of[n];
    waiting wait(when.patience);
    while (std::int32_t(get_before(when.told + whom) - product) < 0)
      if (wait.over(whom)) break;
    if (n == 0 && blockIdx.x == 0) *when.patience.waited += wait.so_far();
  }
  __syncthreads();
}

/// Waits for them, and says where they lie: to be read past the first cache.
template <class V> __device__ const V* elements_of_others(const arriving<V>& x) {
  wait_for(x.when);
  return x.there + (x.when.product ? (*x.when.product % 2) * x.to_second : 0);
}
#endif

/// Rows that have such entries, one after the other.
template <class V> struct far_part {
  index_t rows;
  const index_t* begins;
  const std::int32_t *columns, *row_of; ///< in the order of the plan; among the rank's rows
  const V* values;

#if defined(__CUDACC__)
  /// Of row k times the elements of others, by W threads of a warp; the first one gets it.
  template <int W> __device__ V sum_of(index_t k, int lane, const V* there) const {
    V sum = 0;
    for (index_t e = begins[k] + lane; e < begins[k + 1]; e += W) sum += values[e] * __ldcg(there + columns[e]);
    if constexpr (W > 1) sum = sum_lanes<W>(sum);
    return sum;
  }
#endif
};

} // namespace furrow::gpu
