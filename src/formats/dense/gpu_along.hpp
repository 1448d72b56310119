// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// A group's share of R lines of memory: the products of one thread, `rank` of W.
template <class T, class S, int Rhs, int W, int R, int U> struct line_sums {
  using V = vector_value<T>;
  static constexpr int each = per_load<T>;

  const call<T>& c;
  const T* a;    ///< first element of the piece in the first line
  const V* x;    ///< the element of x that it is multiplied by
  index_t count; ///< elements of the piece
  int lines;     ///< of R that there are
  int rank;
  S sum[R][Rhs] = {};

  __device__ void add_element(index_t k) {
    V factor[Rhs];
#pragma unroll
    for (int r = 0; r < Rhs; ++r) factor[r] = x[k * c.x_stride + (r < c.count ? r : 0) * c.x_next];
#pragma unroll
    for (int i = 0; i < R; ++i)
      if (i < lines) {
        const S value = S(number(a[i * c.leading + k]));
#pragma unroll
        for (int r = 0; r < Rhs; ++r) sum[i][r] += value * S(factor[r]);
      }
  }

  /// Loads of 16 bytes from element `head` on. Packed: x can be read that way too.
  template <bool Packed> __device__ void add_loads(index_t head, index_t loads) {
    const char* const at = reinterpret_cast<const char*>(a + head);
    const index_t pitch = c.leading * index_t(sizeof(T));
    for (index_t v = rank; v < loads; v += W * U) {
      bytes16 raw[U][R];
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int i = 0; i < R; ++i)
          if (i < lines && v + u * W < loads) raw[u][i] = load_once(at + i * pitch + (v + u * W) * 16);
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (v + u * W >= loads) break;
        const index_t k = head + (v + u * W) * each;
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          V factor[each];
          const V* const from = x + (r < c.count ? r : 0) * c.x_next;
          if constexpr (Packed) load_x<each>(from + k, factor);
          else {
#pragma unroll
            for (int j = 0; j < each; ++j) factor[j] = from[(k + j) * c.x_stride];
          }
#pragma unroll
          for (int i = 0; i < R; ++i)
            if (i < lines) {
#pragma unroll
              for (int j = 0; j < each; ++j) sum[i][r] += S(element<T>(raw[u][i], j)) * S(factor[j]);
            }
        }
      }
    }
  }

  __device__ void add() {
    if (c.leading % each != 0) { // every line is aligned in another way: an element at a time
#pragma unroll 4
      for (index_t k = rank; k < count; k += W) add_element(k);
      return;
    }
    const index_t ahead = misalignment(a) ? each - misalignment(a) : 0, head = ahead < count ? ahead : count;
    const index_t loads = (count - head) / each, tail = head + loads * each;
    if (rank < head) add_element(rank);
    if (tail + rank < count) add_element(tail + rank);
    const bool packed = c.x_stride == 1 && c.x_next % per_load<V> == 0 && misalignment(x + head) == 0;
    if (packed) add_loads<true>(head, loads);
    else add_loads<false>(head, loads);
  }
};

/// y <- alpha A x + beta y where the sums run along the lines of memory. W threads share R lines, so that an element of
/// x serves R of them; a thread has U * R loads of 16 bytes under way. Reads every byte of A once.
template <class T, class S, int Rhs, int W, int R, int U>
__global__ void __launch_bounds__(gpu_threads, resident) along_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  constexpr int groups = gpu_threads / W, results = R * Rhs;
  const int rank = int(threadIdx.x) % W;
  for (index_t item = index_t(blockIdx.x) * groups + threadIdx.x / W; item < p.items(c.batch);
       item += index_t(gridDim.x) * groups) {
    const gpu_item at = item_of(p, item);
    const index_t line = at.tile * R, term = at.piece * p.terms;
    const int lines = c.lines - line < R ? int(c.lines - line) : R;
    line_sums<T, S, Rhs, W, R, U> mine{c,
                                       c.a_of(at.problem) + line * c.leading + term,
                                       c.x_of(at.problem) + term * c.x_stride,
                                       c.length - term < p.terms ? c.length - term : p.terms,
                                       lines,
                                       rank};
    mine.add();
    if constexpr (W <= gpu::warp) {
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          const S sum = gpu::sum_lanes<W>(mine.sum[i][r]);
          if (rank == 0 && i < lines && r < c.count) put_output(c, at.problem, r, line + i, sum);
        }
    } else {
      constexpr int warps = gpu_threads / gpu::warp;
      __shared__ S room[results * warps > gpu_threads ? results * warps : gpu_threads];
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          const S sum = gpu::sum_lanes<gpu::warp>(mine.sum[i][r]);
          if (threadIdx.x % gpu::warp == 0) room[(i * Rhs + r) * warps + threadIdx.x / gpu::warp] = sum;
        }
      __syncthreads();
      const int which = int(threadIdx.x);
      S sum{};
      if (which < results)
        for (int w = 0; w < warps; ++w) sum += room[which * warps + w];
      if (p.pieces > 1) {
        const index_t tile = at.problem * p.tiles + at.tile;
        S* const partial = scratch.partial + tile * p.pieces * results;
        if (which < results) partial[at.piece * results + which] = sum;
        if (!last_to_arrive(scratch.arrived + tile, p.pieces)) continue;
        sum = sum_pieces(partial, p.pieces, results, results, room);
      }
      if (which < results && which / Rhs < lines && which % Rhs < c.count)
        put_output(c, at.problem, which % Rhs, line + which / Rhs, sum);
      __syncthreads(); // before the room is used again
    }
  }
}

} // namespace furrow::dense
