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

/// y <- alpha A' x + beta y, one vector, where many lines of memory of up to 8 KiB are added up: the matrix is one
/// stream of periods, p.turn lines in a load each of p.active threads of a group, so that a thread's elements always
/// belong to the same columns. A group is a warp, whose loads are then neighbours, or where whole lines do not go into
/// those a block. A block has a multiprocessor to itself, and the blocks take turns of a few periods for each group.
/// Where there are many outputs, the last blocks add the pieces of p.lanes of them each. Padding is read too, into sums
/// that nobody asks for. Reads every byte once.
///
/// Ends: a line may end within a load. Few: there are few outputs. Lines: of a period of a warp, all of whose threads
/// are at work, where x has no gaps; the threads then load a turn's run of x together and hand it round. Otherwise 0.
template <class T, class S, bool Ends, bool Few, int Lines = 0>
__global__ void __launch_bounds__(stream_threads, 1) stream_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, U = stream_loads(sizeof(T), Ends);
  constexpr bool known = Lines > 0;
  static_assert(!known || (Lines == lines_of_warp && U * Lines % gpu::warp == 0 && !Ends));
  __shared__ alignas(16) S room[stream_threads * each];
  __shared__ unsigned to_take;
  const int thread = int(threadIdx.x), shares = p.rows, lines = known ? Lines : p.turn,
            active = known ? gpu::warp : p.active, pitch = known ? gpu::warp * each / Lines : int(c.leading);
  unsigned ticket = 0;
  if (shares > 1 && thread == 0) ticket = gpu::draw_ticket(scratch.arrived);
  const bool by_warp = known || p.group == gpu::warp;
  const int groups = by_warp ? stream_threads / gpu::warp : 1, group = by_warp ? thread / gpu::warp : 0,
            rank = by_warp ? thread % gpu::warp : thread;
  const int line = small_quotient(rank * each, pitch), column = rank * each - line * pitch, period = active * each;
  const unsigned pieces = gridDim.x;
  const index_t x_stride = known ? 1 : c.x_stride;
  const index_t x_period = lines * x_stride, x_next = Ends && column + each > pitch ? c.x_stride : 0;
  const T* const a = c.a + rank * each;
  const V* const x = to_global(c.x_of(0)) + line * x_stride;
  S sum[each] = {};
  const auto add = [&](auto loads, index_t k) { // of periods from k on
    constexpr int N = loads.value;
    const T* const from = a + k * period;
    const V* const by = x + k * x_period;
    bytes16 raw[N];
    V factor[N][2];
#pragma unroll
    for (int u = 0; u < N; ++u) raw[u] = load_once(from + u * period);
    constexpr int shared = N == U ? N * Lines / gpu::warp : 0; // loads of x whose numbers are all lanes'
    if constexpr (shared > 0) {
      V run[shared];
#pragma unroll
      for (int i = 0; i < shared; ++i) run[i] = (by - line)[i * gpu::warp + rank];
#pragma unroll
      for (int u = 0; u < N; ++u)
        factor[u][0] = gpu::from_lane<gpu::warp>(run[u * Lines / gpu::warp], u * Lines % gpu::warp + line);
    } else {
#pragma unroll
      for (int u = 0; u < N; ++u) {
        factor[u][0] = by[u * x_period];
        if (Ends) factor[u][1] = by[u * x_period + x_next];
      }
    }
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int j = 0; j < each; ++j)
        sum[j] += S(element<T>(raw[u], j)) * S(Ends && column + j >= pitch ? factor[u][1] : factor[u][0]);
  };
  if (rank < active) {
#pragma unroll 1
    for (index_t turn = blockIdx.x; turn < p.terms; turn += pieces) add(fixed<U>{}, (turn * groups + group) * U);
    // What is left is less than a turn: a period for each group of the last blocks, which had the fewest turns.
    index_t k = p.terms * groups * U + (pieces - 1 - blockIdx.x) * groups + group;
    for (; k < p.periods; k += pieces * groups) add(fixed<1>{}, k);
    const index_t left = (c.lines - 1) * c.leading + c.length - k * period - rank * each;
    if (k == p.periods)
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (j < left) sum[j] += S(number(a[k * period + j])) * S(x[k * x_period + (column + j >= pitch ? x_next : 0)]);
  }
  const int width = int(p.outputs), share = p.lanes;
  if (thread == 0) {
    if (shares == 1) ticket = gpu::draw_ticket(scratch.arrived); // asked for only when the piece is left
    else to_take = gpu::shares_to_take(scratch.arrived, ticket, pieces, unsigned(shares));
  }
  if (rank < active)
#pragma unroll
    for (int j = 0; j < each; ++j) room[(group * active + rank) * each + j] = sum[j];
  __syncthreads();
  fold_once_more<stream_threads>(room, groups * lines, pitch);
  for (int k = thread; k < width; k += stream_threads)
    gpu::leave(scratch.partial + index_t(blockIdx.x) * width + k, k < pitch ? room[k] : S(0));
  if (shares == 1 && thread == 0) to_take = ticket == pieces - 1 ? 1 : 0;
  __syncthreads();
  for (unsigned mine = to_take; mine != 0; mine &= mine - 1) {
    const int first = (__ffs(int(mine)) - 1) * share, outputs = width - first < share ? width - first : share;
    take_pieces<Few ? 2 : 6, stream_threads>(scratch.partial + first, int(pieces), width, outputs, room);
    if (thread < outputs && first + thread < c.length) put_output(c, 0, 0, first + thread, room[thread]);
    if (first == 0 && thread == 0) *scratch.arrived = 0;
    __syncthreads();
  }
}

} // namespace furrow::dense
