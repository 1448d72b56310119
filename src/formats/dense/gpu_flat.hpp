// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// Where a thread stands in a matrix that is read as one stream of loads. All threads at work move on by `period`
/// elements at a time, a whole number of lines, so a thread's elements always belong to the same columns.
struct stream_place {
  index_t element; ///< of the thread's first load; negative where the matrix does not begin at a multiple of 16 bytes
  index_t line;    ///< of that element, rounded down
  int column;

  FURROW_HD stream_place(int thread, int each, int shift, int pitch) : element(index_t(thread) * each - shift) {
    line = (element + index_t(each) * pitch) / pitch - each;
    column = int(element - line * pitch);
  }
};

/// y <- alpha A' x + beta y where short lines of memory are added up: pitch = leading, at most 512 bytes. Padding is
/// read too, into sums that nobody asks for. Reads every byte once.
template <class T, class S, int Rhs>
__global__ void __launch_bounds__(gpu_threads, (room_for<T, S, Rhs>))
    flat_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, unroll = many_sums<T, S, Rhs> ? 4 : 8;
  __shared__ S room[gpu_threads * each];
  const int thread = int(threadIdx.x), pitch = int(c.leading), period = p.active * each, lines = period / pitch;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const V* const x = c.x_of(at.problem);
    const index_t elements = (c.lines - 1) * c.leading + c.length;
    const int shift = misalignment(a);
    const stream_place begin(thread, each, shift, pitch);
    const index_t last = (at.piece + 1) * p.terms;
    S sum[Rhs][each] = {};
    const auto factor = [&](index_t line, int r) { return S(x[line * c.x_stride + (r < c.count ? r : 0) * c.x_next]); };
    for (index_t k = at.piece * p.terms; k < last && thread < p.active; k += unroll) {
      bytes16 raw[unroll];
      const auto first_of = [&](int u) { return begin.element + (k + u) * period; };
      const auto inside = [&](int u) { return k + u < last && first_of(u) >= 0 && first_of(u) + each <= elements; };
      bool all = true;
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        if (inside(u)) raw[u] = load_once(a + first_of(u));
        else all = false;
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        if (!inside(u)) continue;
        const index_t line = begin.line + (k + u) * lines;
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          if (pitch >= each) { // two lines at most
            const S low = factor(line, r), high = begin.column + each > pitch ? factor(line + 1, r) : low;
#pragma unroll
            for (int j = 0; j < each; ++j)
              sum[r][j] += S(element<T>(raw[u], j)) * (begin.column + j < pitch ? low : high);
          } else {
#pragma unroll
            for (int j = 0; j < each; ++j)
              sum[r][j] += S(element<T>(raw[u], j)) * factor(line + (begin.column + j) / pitch, r);
          }
        }
      }
      if (all) continue;
      for (int u = 0; u < unroll && k + u < last; ++u) { // the ends of the matrix, an element at a time
        if (inside(u)) continue;
#pragma unroll
        for (int j = 0; j < each; ++j) {
          const index_t e = first_of(u) + j;
          if (e < 0 || e >= elements) continue;
#pragma unroll
          for (int r = 0; r < Rhs; ++r) sum[r][j] += S(number(a[e])) * factor(e / pitch, r);
        }
      }
    }
    S* const partial = scratch.partial + at.problem * p.pieces * Rhs * pitch;
    // Element q of the room belongs to column (q - shift) modulo pitch.
    const auto column_of = [&](int q) { return (q - shift + each * pitch) % pitch; };
#pragma unroll
    for (int r = 0; r < Rhs; ++r) {
      __syncthreads(); // the room is free
#pragma unroll
      for (int j = 0; j < each; ++j) room[thread * each + j] = sum[r][j];
      __syncthreads();
      for (int left = lines; left > 1;) { // the upper half folds onto the lower one
        const int half = (left + 1) / 2;
        for (int q = thread; q < (left - half) * pitch; q += gpu_threads) room[q] += room[q + half * pitch];
        left = half;
        __syncthreads();
      }
      if (thread >= pitch) continue;
      if (p.pieces > 1) partial[(at.piece * Rhs + r) * pitch + thread] = room[thread];
      else if (column_of(thread) < c.length && r < c.count)
        put_output(c, at.problem, r, column_of(thread), room[thread]);
    }
    if (p.pieces == 1 || !last_to_arrive(scratch.arrived + at.problem, p.pieces)) continue;
    for (int r = 0; r < c.count; ++r) {
      const S total = sum_pieces(partial + r * pitch, p.pieces, index_t(Rhs) * pitch, pitch, room);
      if (thread < pitch && column_of(thread) < c.length) put_output(c, at.problem, r, column_of(thread), total);
    }
  }
}

} // namespace furrow::dense
