// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"

#include "backends/gpu/reduce.hpp"
#include "backends/shared_array.hpp"
#include "backends/warp_of.hpp"

/// The classic kernels, to read and to compare with: a thread, a block of 256 or a warp for each coefficient. They work
/// for both conventions, all lengths and all coefficients of the product. One product is one row of the grid.
namespace furrow::chebyshev {

using gpu::sum_block, gpu::sum_lanes;

inline constexpr int classic_threads = 256;

/// What the kernels know: the batches, the lengths, the convention.
template <class V> struct classic_job {
  batch<const V> a, b;
  batch<V> c;
  product_shape shape;
  convention series;

  __device__ factor<V> left(index_t s) const { return factor_at(a, shape.na, s); }
  __device__ factor<V> right(index_t s) const { return factor_at(b, shape.nb, s); }
  __device__ void store(index_t s, index_t k, V sum) const {
    c.data[s * c.stride + k] = coefficient_of(sum, k, series);
  }

private:
  __device__ factor<V> factor_at(const batch<const V>& from, index_t size, index_t s) const {
    return {series_at(from, s), size, series == convention::plain ? V(2) : V(1)};
  }
};

/// A thread a coefficient.
template <class V> __global__ void thread_kernel(classic_job<V> j, index_t first) {
  const index_t k = index_t(blockIdx.x) * classic_threads + threadIdx.x, s = first + blockIdx.y;
  if (k < j.shape.keep) j.store(s, k, partial(lanes{0, 1}, j.left(s), j.right(s), k));
}

/// A block a coefficient.
template <class V> __global__ void __launch_bounds__(classic_threads) block_kernel(classic_job<V> j, index_t first) {
  FURROW_SHARED(V, room, classic_threads / gpu::warp_of<V>);
  const index_t k = blockIdx.x, s = first + blockIdx.y;
  const V mine = partial(lanes{int(threadIdx.x), classic_threads}, j.left(s), j.right(s), k);
  const V sum = sum_block<classic_threads>(mine, room);
  if (threadIdx.x == 0) j.store(s, k, sum);
}

/// A warp a coefficient.
template <class V> __global__ void __launch_bounds__(classic_threads) warp_kernel(classic_job<V> j, index_t first) {
  constexpr int warp = gpu::warp_of<V>;
  const index_t k = (index_t(blockIdx.x) * classic_threads + threadIdx.x) / warp, s = first + blockIdx.y;
  if (k >= j.shape.keep) return; // whole warps leave together
  const int lane = threadIdx.x % warp;
  const V sum = sum_lanes<warp>(partial(lanes{lane, warp}, j.left(s), j.right(s), k));
  if (lane == 0) j.store(s, k, sum);
}

} // namespace furrow::chebyshev
