// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <furrow/operator.hpp>

/// Sums on the GPU, in an order that depends on sizes alone: the same bits on every run, no floating-point atomics.
namespace furrow::gpu {

/// The sum of `value` over a group of W lanes, in the group's first lane. All lanes of the group must call.
template <int W, class T> __device__ T sum_lanes(T value) {
  for (int distance = W / 2; distance > 0; distance /= 2) value += from_lane_above<W>(value, distance);
  return value;
}

/// The same, in every lane of the group, with the same bits: a + b is b + a.
template <int W, class T> __device__ T sum_lanes_for_all(T value) {
  for (int distance = W / 2; distance > 0; distance /= 2) value += from_lane_across<W>(value, distance);
  return value;
}

/// The sum of `value` over the block, in thread 0. `room` holds a value a warp and may be used again after the next
/// barrier.
template <int Threads, class T> __device__ T sum_block(T value, T* room) {
  value = sum_lanes<warp>(value);
  if (threadIdx.x % warp == 0) room[threadIdx.x / warp] = value;
  __syncthreads();
  value = threadIdx.x < Threads / warp ? room[threadIdx.x] : T(0);
  if (threadIdx.x < warp) value = sum_lanes<warp>(value);
  return value;
}

/// Where the sums of a pass go, and the scratch that they go through.
template <int N> struct sum_target {
  slot out[N ? N : 1];
  double* partial;
  unsigned* arrived;
};
template <class... Slots> sum_target<sizeof...(Slots)> target(const queue& q, Slots... out) {
  return {{out...}, q.partial, q.arrived};
}

/// Whether this block is the last one of the grid that comes here: it sees what all have written before. Every thread
/// of every block must call, once; the last one puts `arrived` back to 0.
template <class Counter> __device__ bool comes_last(Counter* arrived) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(arrived, Counter(1)) == gridDim.x - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// No share of a sum beside those of the threads.
struct nothing_beside {
  __device__ double operator()(int) const { return 0; }
};

/// Ends a pass: adds `mine` over all threads of all blocks into the slots. Every thread of the grid must call, once.
/// The block that arrives last adds the partial sums in the order of the blocks, behind what `beside(k)` gives each of
/// its threads for sum k: shares that whichever block was the last one at something has stored before it called.
template <int Threads, int N, class Beside = nothing_beside>
__device__ void finish(const double* mine, const sum_target<N>& to, Beside beside = {}) {
  if constexpr (N > 0) {
    __shared__ double room[N][Threads / warp];
    __shared__ bool last;
    double total[N];
    for (int k = 0; k < N; ++k) total[k] = sum_block<Threads>(mine[k], room[k]);
    if (threadIdx.x == 0) {
      for (int k = 0; k < N; ++k) to.partial[k * gridDim.x + blockIdx.x] = total[k];
      __threadfence();
      last = atomicAdd(to.arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int k = 0; k < N; ++k) {
      double share = beside(k);
      for (unsigned b = threadIdx.x; b < gridDim.x; b += Threads) share += __ldcg(to.partial + k * gridDim.x + b);
      total[k] = sum_block<Threads>(share, room[k]);
      if (threadIdx.x == 0) *to.out[k].at = total[k];
    }
    if (threadIdx.x == 0) *to.arrived = 0;
  }
}

} // namespace furrow::gpu
