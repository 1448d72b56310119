// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "reduce.hpp"

#include "backends/shared_array.hpp"
#include "backends/warp_of.hpp"

/// The two kernels over vectors that a tutorial on conjugate gradients is made of.
namespace furrow::unfused {

using gpu::sum_block;

inline constexpr int vector_threads = 256;

/// What products of numbers V are added up in: double.
template <class V> struct double_of { using type = double; };
template <template <class, int> class Number, class T, int Lanes> struct double_of<Number<T, Lanes>> {
  using type = Number<double, Lanes>;
};
template <class V> using wide = typename double_of<V>::type;

/// sum <- v1 + alpha v2; `sum` may be one of them. Threads stride over the elements, so any grid will do.
template <class V>
__global__ void __launch_bounds__(vector_threads) add_kernel(cview<V> v1, V alpha, cview<V> v2, view<V> sum) {
  gpu::take_turn();
  const index_t stride = index_t(gridDim.x) * vector_threads;
  for (index_t i = index_t(blockIdx.x) * vector_threads + threadIdx.x; i < sum.size; i += stride)
    sum[i] = v1[i] + alpha * v2[i];
}

/// Block b's share of x . y to partial[b].
template <class V>
__global__ void __launch_bounds__(vector_threads) dot_kernel(cview<V> x, cview<V> y, view<wide<V>> partial) {
  FURROW_SHARED(wide<V>, room, vector_threads / gpu::warp_of<V>);
  gpu::take_turn();
  wide<V> mine(0);
  const index_t stride = index_t(gridDim.x) * vector_threads;
  for (index_t i = index_t(blockIdx.x) * vector_threads + threadIdx.x; i < x.size; i += stride)
    mine += wide<V>(double(x[i])) * wide<V>(double(y[i]));
  const wide<V> total = sum_block<vector_threads>(mine, room);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

} // namespace furrow::unfused
