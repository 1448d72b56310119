// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::across {

/// Threads of the one block that a multiprocessor has, and their loads under way; bytes of the matrix, worth a block.
inline constexpr int stream_threads = 512;
FURROW_HD constexpr int stream_loads(int size) { return size == 2 ? 10 : 12; }
inline constexpr index_t stream_bytes = 1 << 18;

struct stream_plan : cut { ///< terms: whole turns
  int active = 256;        ///< threads at work
  int turn = 0;            ///< lines of a period
  index_t periods = 0;     ///< whole ones in the matrix
  int share = 1;           ///< outputs that a block takes the pieces of
  int shares = 1;          ///< of all outputs
};

#if defined(__CUDACC__)

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
      gpu::collect(piece, small_quotient(pieces - p + ranks - 1, ranks),
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
/// multiprocessor to itself, and the blocks take turns of a few periods. The last blocks add the pieces of p.share
/// outputs each. Padding is read too, into sums that nobody asks for. Reads every byte once.
template <class T, class S>
__global__ void __launch_bounds__(stream_threads, 1) stream_kernel(call<T> c, stream_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, U = stream_loads(sizeof(T));
  __shared__ alignas(16) S room[stream_threads * each];
  __shared__ unsigned to_take;
  const int thread = int(threadIdx.x), shares = p.shares, lines = p.turn, active = p.active, pitch = int(c.leading);
  unsigned ticket = 0;
  if (thread == 0) ticket = gpu::take_ticket(scratch.arrived);
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
  const int width = int(p.outputs), share = p.share;
  if (thread == 0) to_take = gpu::shares_to_take(scratch.arrived, ticket, pieces, unsigned(shares));
  if (thread < active)
#pragma unroll
    for (int j = 0; j < each; ++j) room[thread * each + j] = sum[j];
  __syncthreads();
  fold_once_more<stream_threads>(room, lines, pitch);
  for (int k = thread; k < width; k += stream_threads)
    gpu::publish(scratch.partial + index_t(blockIdx.x) * width + k, k < pitch ? room[k] : S(0));
  __syncthreads();
  for (unsigned mine = to_take; mine != 0; mine &= mine - 1) {
    const int first = (__ffs(int(mine)) - 1) * share, outputs = width - first < share ? width - first : share;
    take_pieces<6, stream_threads>(scratch.partial + first, int(pieces), width, outputs, room);
    if (thread < outputs && first + thread < c.length) put_output(c, 0, 0, first + thread, room[thread]);
    if (first == 0 && thread == 0) *scratch.arrived = 0;
    __syncthreads();
  }
}

#endif

struct stream {
  static constexpr std::string_view name = "stream",
                                    about = "lines beyond 512 bytes that are no whole loads, as one stream";
  static constexpr bool one_vector = true;
  static constexpr int order = 10;
  using plan = stream_plan;

  static constexpr std::optional<plan> fits(const gemv_shape& p, const gpu_shape& g) {
    // Loads after which a line begins at a load again; those of a block, of which few threads may be idle.
    const index_t round = p.leading / common_divisor(p.leading, p.per_load());
    const index_t in_block = stream_threads / round * round;
    if (p.vectors > 1 || p.batch > 1 || !p.a_aligned || p.even() || p.lines <= 8 || p.leading * p.size <= flat_bytes ||
        in_block < stream_threads * 7 / 8 || p.leading - p.length > p.leading / 64 ||
        p.lines * p.length * p.size < g.multiprocessors * stream_bytes)
      return {};
    plan c;
    c.active = int(in_block);
    c.turn = int(c.active * p.per_load() / p.leading);
    c.outputs = up(p.leading, 4) * 4; // places of pieces, which are read by four
    c.share = int(up(up(c.outputs, 16), 8) * 8);
    c.shares = int(up(c.outputs, c.share));
    c.pieces = g.multiprocessors;
    c.blocks = unsigned(c.pieces);
    c.periods = ((p.lines - 1) * p.leading + p.length) / (c.active * p.per_load());
    c.terms = c.periods / stream_loads(p.size);
    return c;
  }

#if defined(__CUDACC__)
  template <class T, class S, int Rhs> static gpu_kernel<T, S, plan> kernel(const call<T>&, const plan&) {
    return {.run = stream_kernel<T, S>, .threads = stream_threads, .empty_places = true};
  }
#endif
};

} // namespace furrow::dense::across
