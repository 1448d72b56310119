// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// `fold_parts` where it is called twice: what a kernel runs once, at its end, comes from the memory like its data, so
/// little of it is fast.
template <int Threads, class S> __device__ __noinline__ void fold_once_more(S* room, int parts, int pitch) {
  fold_parts<Threads>(room, parts, pitch);
}

/// room[k] <- the sum over `pieces` of output k < outputs, pieces `distance` apart, as they are handed over. A thread
/// takes N neighbours of Unroll pieces at a time. All threads must call; the room is free, and full behind a barrier.
template <int Unroll, int Threads, class S>
__device__ void take_pieces(S* partial, int pieces, int distance, int outputs, S* room) {
  constexpr int N = 16 / int(sizeof(S));
  const int places = outputs / N, ranks = small_quotient(Threads, places);
  const int rank = small_quotient(int(threadIdx.x), places), first = (int(threadIdx.x) - rank * places) * N;
  if (rank < ranks) {
    S sum[N] = {};
#pragma unroll 1
    for (int p = rank; p < pieces; p += Unroll * ranks) {
      neighbours<N, S> piece[Unroll] = {};
      gpu::take(piece, small_quotient(pieces - p + ranks - 1, ranks),
                [&](int u) { return partial + (p + u * ranks) * distance + first; });
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
#pragma unroll
        for (int j = 0; j < N; ++j) sum[j] += piece[u].of[j];
    }
#pragma unroll
    for (int j = 0; j < N; ++j) room[rank * outputs + first + j] = sum[j];
  }
  __syncthreads();
  fold_once_more<Threads>(room, ranks, outputs);
}

/// y <- alpha A' x + beta y, one vector, where many lines of memory of half a KiB to 8 KiB are added up that are no
/// whole loads: the matrix is one stream of periods, p.turn lines in a load each of p.active threads of a block, so
/// that a thread's elements always belong to the same columns. A line may end within a load. A block has a
/// multiprocessor to itself, and the blocks take turns of a few periods. The last blocks add the pieces of p.lanes
/// outputs each. Padding is read too, into sums that nobody asks for. Reads every byte once.
template <class T, class S>
__global__ void __launch_bounds__(stream_threads, 1) stream_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, U = stream_loads(sizeof(T));
  __shared__ alignas(16) S room[stream_threads * each];
  __shared__ unsigned to_take;
  const int thread = int(threadIdx.x), shares = p.rows, lines = p.turn, active = p.active, pitch = int(c.leading);
  unsigned ticket = 0;
  if (thread == 0) ticket = gpu::draw_ticket(scratch.arrived);
  const int line = small_quotient(thread * each, pitch), column = thread * each - line * pitch, period = active * each;
  const unsigned pieces = gridDim.x;
  const index_t x_period = lines * c.x_stride, x_next = column + each > pitch ? c.x_stride : 0;
  const T* const a = c.a + thread * each;
  const V* const x = to_global(c.x_of(0)) + line * c.x_stride;
  S sum[each] = {};
  const auto add = [&](auto loads, index_t k) { // of periods from k on
    constexpr int N = loads.value;
    const T* const from = a + k * period;
    const V* const by = x + k * x_period;
    bytes16 raw[N];
    V factor[N][2];
#pragma unroll
    for (int u = 0; u < N; ++u) raw[u] = load_once(from + u * period);
#pragma unroll
    for (int u = 0; u < N; ++u) {
      factor[u][0] = by[u * x_period];
      factor[u][1] = by[u * x_period + x_next];
    }
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int j = 0; j < each; ++j)
        sum[j] += S(element<T>(raw[u], j)) * S(column + j >= pitch ? factor[u][1] : factor[u][0]);
  };
  if (thread < active) {
#pragma unroll 1
    for (index_t turn = blockIdx.x; turn < p.terms; turn += pieces) add(fixed<U>{}, turn * U);
    // What is left is less than a turn: a period for each of the last blocks, which had the fewest turns.
    index_t k = p.terms * U + (pieces - 1 - blockIdx.x);
    for (; k < p.periods; k += pieces) add(fixed<1>{}, k);
    const index_t left = (c.lines - 1) * c.leading + c.length - k * period - thread * each;
    if (k == p.periods)
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (j < left) sum[j] += S(number(a[k * period + j])) * S(x[k * x_period + (column + j >= pitch ? x_next : 0)]);
  }
  const int width = int(p.outputs), share = p.lanes;
  if (thread == 0) to_take = gpu::shares_to_take(scratch.arrived, ticket, pieces, unsigned(shares));
  if (thread < active)
#pragma unroll
    for (int j = 0; j < each; ++j) room[thread * each + j] = sum[j];
  __syncthreads();
  fold_once_more<stream_threads>(room, lines, pitch);
  for (int k = thread; k < width; k += stream_threads)
    gpu::leave(scratch.partial + index_t(blockIdx.x) * width + k, k < pitch ? room[k] : S(0));
  __syncthreads();
  for (unsigned mine = to_take; mine != 0; mine &= mine - 1) {
    const int first = (__ffs(int(mine)) - 1) * share, outputs = width - first < share ? width - first : share;
    take_pieces<6, stream_threads>(scratch.partial + first, int(pieces), width, outputs, room);
    if (thread < outputs && first + thread < c.length) put_output(c, 0, 0, first + thread, room[thread]);
    if (first == 0 && thread == 0) *scratch.arrived = 0;
    __syncthreads();
  }
}

} // namespace furrow::dense
