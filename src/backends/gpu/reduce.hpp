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

/// The sums of mine[k] over the block: store(k, total), by one thread of the first warp for each. `room` may be used
/// again after the next barrier. All at once, behind one barrier: one after the other they took 0.4 us longer.
template <int Threads, int N, class Store>
__device__ void add_up_block(const double* mine, double (*room)[Threads / warp], Store store) {
  constexpr int warps = Threads / warp, most = warps < warp ? warp / warps : 1; // sums that lanes of a warp hold
  constexpr int together = N < most ? N : most;
  const int lane = static_cast<int>(threadIdx.x) % warp;
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const double sum = sum_lanes<warp>(mine[k]);
    if (lane == 0) room[k][threadIdx.x / warp] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= warp) return;
#pragma unroll
  for (int first = 0; first < N; first += together) {
    const int k = first + lane / warps;
    const bool there = lane < together * warps && k < N;
    const double total = sum_lanes<warps>(there ? room[k][lane % warps] : 0.0);
    if (there && lane % warps == 0) store(k, total);
  }
}

/// Counts one more in `arrived`: whether that makes `all`. Who is told so sees what the others have written before, and
/// so, behind a barrier, does its block; what a block has written counts as its thread's behind a barrier. One atomic
/// instruction that releases and acquires: fences of their own, each of which empties the first cache, took another
/// 0.2 to 0.3 us a pass.
__device__ inline bool arrives_last(unsigned* arrived, unsigned all) {
  unsigned before = 0;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived) : "memory");
  return before + 1 == all;
}

/// Whether this block is the last one of the grid that comes here: it sees what all have written before. Every thread
/// of every block must call, once; the last one puts `arrived` back to 0.
__device__ inline bool comes_last(unsigned* arrived) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) last = arrives_last(arrived, gridDim.x);
  __syncthreads();
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
    constexpr int batch = N > 1 ? 2 : 4; // reads of a sum under way at once
    __shared__ double room[N][Threads / warp];
    __shared__ bool last;
    add_up_block<Threads, N>(mine, room, [&](int k, double total) { to.partial[k * gridDim.x + blockIdx.x] = total; });
    if (threadIdx.x < warp) {
      __syncwarp();
      if (threadIdx.x == 0) last = arrives_last(to.arrived, gridDim.x);
    }
    __syncthreads();
    if (!last) return;
    double share[N];
#pragma unroll
    for (int k = 0; k < N; ++k) share[k] = beside(k);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += batch * Threads) {
      double of_block[batch][N];
#pragma unroll
      for (int i = 0; i < batch; ++i)
#pragma unroll
        for (int k = 0; k < N; ++k)
          of_block[i][k] = b + i * Threads < gridDim.x ? __ldcg(to.partial + k * gridDim.x + b + i * Threads) : 0.0;
#pragma unroll
      for (int i = 0; i < batch; ++i)
#pragma unroll
        for (int k = 0; k < N; ++k) share[k] += of_block[i][k];
    }
    add_up_block<Threads, N>(share, room, [&](int k, double total) {
#pragma unroll
      for (int j = 0; j < N; ++j) // a number that is not known would take them all into local memory
        if (j == k) *to.out[j].at = total;
    });
    if (threadIdx.x == 0) *to.arrived = 0;
  }
}

} // namespace furrow::gpu
