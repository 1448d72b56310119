// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A' x + beta y, one vector, where many lines of memory of up to 8 KiB are added up: the matrix is one
/// stream of periods, p.turn lines in a load each of p.active threads, so that a thread's elements always belong to the
/// same columns. A block has a multiprocessor to itself, and the blocks take turns of a few periods, all as many. Where
/// there are many outputs, the last blocks add the pieces of p.lanes of them each. Padding is read too, into sums that
/// nobody asks for. Reads every byte once.
///
/// Holds: lines that a load of x is for. 1: no line ends within a load of A. 2: lines come in pairs that are whole
/// loads, and x in loads of two. -1: a line may end anywhere, and x comes element by element.
template <class T, class S, int Holds>
__global__ void __launch_bounds__(stream_threads, 1) stream_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr bool ends = Holds != 1, pairs = Holds == 2; // a line ends within a load
  constexpr int each = per_load<T>, U = stream_loads(sizeof(T), Holds), N = 16 / int(sizeof(S));
  __shared__ S room[stream_threads * each];
  __shared__ unsigned to_take;
  const int thread = int(threadIdx.x), pitch = int(c.leading), shares = p.rows;
  unsigned ticket = 0;
  if (shares > 1 && thread == 0) ticket = gpu::draw_ticket(scratch.arrived);
  const int line = small_quotient(thread * each, pitch), column = thread * each - line * pitch,
            period = p.active * each;
  const int second = pairs ? line % 2 : 0; // of its pair
  const T* const a = c.a + thread * each;
  const V* const x = to_global(c.x_of(0)) + (line - second) * c.x_stride;
  const index_t x_period = p.turn * c.x_stride, x_next = ends && column + each > pitch ? c.x_stride : 0;
  S sum[each] = {};
  // `there` periods of a turn from period k on; whole: all of them. A load that is not there is the last one again.
  const auto add = [&](auto whole, index_t k, int there) {
    const T* from = a + k * period;
    const V* by = x + k * x_period;
    bytes16 raw[U];
    V factor[U][2];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      raw[u] = load_once(from);
      if (whole.value || u + 1 < there) from += period;
    }
#pragma unroll
    for (int u = 0; u < U; ++u) {
      if constexpr (pairs && whole.value) {
        load_x<2>(by, factor[u]);
        if (second) factor[u][0] = factor[u][1];
      } else { // of the last pair there may be one line
        factor[u][0] = by[second];
        if (ends) factor[u][1] = by[second + x_next];
      }
      if (whole.value || u + 1 < there) by += x_period;
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (whole.value || u < there) {
#pragma unroll
        for (int j = 0; j < each; ++j)
          sum[j] += S(element<T>(raw[u], j)) * S(ends && column + j >= pitch ? factor[u][1] : factor[u][0]);
      }
  };
  const unsigned pieces = gridDim.x;
  if (thread < p.active) {
    index_t k = index_t(blockIdx.x) * U;
    for (index_t round = 0; round < p.terms; ++round, k += index_t(pieces) * U) add(fixed<1>{}, k, U);
    // What is left is less than a turn for each block: all have the same share, but for the last ones.
    const index_t elements = (c.lines - 1) * c.leading + c.length, done = p.terms * pieces * U;
    const index_t high = p.periods + (thread * each + p.periods * period + each <= elements ? 1 : 0); // whole loads
    const int share = small_quotient(int(p.periods - done + pieces), int(pieces));
    k = done + index_t(blockIdx.x) * share;
    if (k < high) add(fixed<0>{}, k, int(high - k < share ? high - k : share));
    if (blockIdx.x == pieces - 1) // a load that is half outside
      for (int j = 0; j < each; ++j)
        if (const index_t e = high * period + thread * each + j; e < elements)
          sum[j] +=
              S(number(c.a[e])) * S(c.x_of(0)[(high * p.turn + line + (column + j >= pitch ? 1 : 0)) * c.x_stride]);
  }
  const int width = int(p.outputs), share = p.lanes;
  if (thread == 0) {
    if (shares == 1) ticket = gpu::draw_ticket(scratch.arrived); // asked for only when the piece is left
    else to_take = gpu::shares_to_take(scratch.arrived, ticket, pieces, unsigned(shares));
  }
#pragma unroll
  for (int j = 0; j < each; ++j) room[thread * each + j] = sum[j];
  __syncthreads();
  fold_parts<stream_threads>(room, p.turn, pitch);
  for (int k = thread; k < width; k += stream_threads)
    gpu::leave(scratch.partial + index_t(blockIdx.x) * width + k, k < pitch ? room[k] : S(0));
  if (shares == 1 && thread == 0) to_take = ticket == pieces - 1 ? 1 : 0;
  __syncthreads();
  for (unsigned mine = to_take; mine != 0; mine &= mine - 1) {
    const int first = (__ffs(int(mine)) - 1) * share, outputs = width - first < share ? width - first : share;
    const S total = sum_pieces<6, N, true, stream_threads>(scratch.partial + first, int(pieces), width, outputs, room);
    if (thread < outputs && first + thread < c.length) put_output(c, 0, 0, first + thread, total);
    if (first == 0 && thread == 0) *scratch.arrived = 0;
  }
}

} // namespace furrow::dense
