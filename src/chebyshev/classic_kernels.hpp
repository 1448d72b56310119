// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "classic.hpp"
#include "lengths.hpp"

#include "backends/gpu/reduce.hpp"
#include "backends/shared_array.hpp"
#include "backends/warp_of.hpp"
#include "core/kernel_numbers.hpp"

/// The classic kernels, to read and to compare with: a thread, a block or a warp for each coefficient. They work for
/// both conventions, all lengths and all coefficients of the product. One product is one row of the grid.
namespace furrow::chebyshev {

using gpu::sum_block, gpu::sum_lanes;

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
  const index_t k = index_t(blockIdx.x) * blockDim.x + threadIdx.x, s = first + blockIdx.y;
  if (k < j.shape.keep) j.store(s, k, partial(lanes{0, 1}, j.left(s), j.right(s), k));
}

/// A block a coefficient, its threads' sums added up by shuffles in each warp, then over the warps.
template <class V, int Threads>
__global__ void __launch_bounds__(Threads) block_kernel(classic_job<V> j, index_t first) {
  FURROW_SHARED(V, room, Threads / gpu::warp_of<V>);
  const index_t k = blockIdx.x, s = first + blockIdx.y;
  const V mine = partial(lanes{int(threadIdx.x), Threads}, j.left(s), j.right(s), k);
  const V sum = sum_block<Threads>(mine, room);
  if (threadIdx.x == 0) j.store(s, k, sum);
}

/// A block a coefficient, its threads' sums added up by a sweep through shared memory: half of the threads that are
/// left add what lies half of them further on, until one is left.
template <class V, int Threads>
__global__ void __launch_bounds__(Threads) block_sweep_kernel(classic_job<V> j, index_t first) {
  FURROW_SHARED(V, room, Threads);
  const index_t k = blockIdx.x, s = first + blockIdx.y;
  room[threadIdx.x] = partial(lanes{int(threadIdx.x), Threads}, j.left(s), j.right(s), k);
  __syncthreads();
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) j.store(s, k, room[0]);
}

/// A warp a coefficient.
template <class V> __global__ void __launch_bounds__(1024) warp_kernel(classic_job<V> j, index_t first) {
  constexpr int warp = gpu::warp_of<V>;
  const index_t k = (index_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp, s = first + blockIdx.y;
  if (k >= j.shape.keep) return; // whole warps leave together
  const int lane = threadIdx.x % warp;
  const V sum = sum_lanes<warp>(partial(lanes{lane, warp}, j.left(s), j.right(s), k));
  if (lane == 0) j.store(s, k, sum);
}

/// The one of that name, for blocks of that many threads.
template <class V> using classic_kernel = void (*)(classic_job<V>, index_t);
template <class V> classic_kernel<V> classic_kernel_of(algorithm how, int threads) {
  if (how == algorithm::thread) return thread_kernel<V>;
  if (how == algorithm::warp) return warp_kernel<V>;
  return with_block(threads, [how]<int B>(std::integral_constant<int, B>) -> classic_kernel<V> {
    return how == algorithm::block ? block_kernel<V, B> : block_sweep_kernel<V, B>;
  });
}

} // namespace furrow::chebyshev
