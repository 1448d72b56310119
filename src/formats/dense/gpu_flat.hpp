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

/// y <- alpha A' x + beta y where short lines of memory are added up: pitch = leading, at most 512 bytes. Pieces take
/// turns of a few periods. Padding is read too, into sums that nobody asks for. Reads every byte once.
template <class T, class S, int Rhs>
__global__ void __launch_bounds__(gpu_threads, (sizeof(T) < 8 ? std::min(2, room_for<T, S, Rhs>) : room_for<T, S, Rhs>))
    flat_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, rounds = each * Rhs >= 32 ? 2 : each * Rhs >= 16 ? 4 : 8;
  __shared__ S room[gpu_threads * each];
  const int thread = int(threadIdx.x), pitch = int(c.leading), period = p.active * each, lines = period / pitch;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const V* const x = c.x_of(at.problem);
    const index_t elements = (c.lines - 1) * c.leading + c.length;
    const int shift = misalignment(a);
    const stream_place begin(thread, each, shift, pitch);
    S sum[Rhs][each] = {};
    const auto factor = [&](index_t line, int r) { return S(x[line * c.x_stride + (r < c.count ? r : 0) * c.x_next]); };
    // Lines: that a load holds, 1 for a load within a line, 0 for one that a line may end in, -1 for any number.
    const auto add_loads = [&](auto holds, auto n, index_t k) {
      constexpr int Lines = holds.value, N = n.value;
      bytes16 raw[N];
#pragma unroll
      for (int u = 0; u < N; ++u) raw[u] = load_once(a + begin.element + (k + u) * period);
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const index_t line = begin.line + (k + u) * lines;
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          if constexpr (Lines > 0) {
            V of_line[Lines];
            load_x<Lines>(x + line + (r < c.count ? r : 0) * c.x_next, of_line);
#pragma unroll
            for (int j = 0; j < each; ++j) sum[r][j] += S(element<T>(raw[u], j)) * S(of_line[j * Lines / each]);
          } else if constexpr (Lines == 0) {
            const S low = factor(line, r), high = factor(line + (begin.column + each > pitch ? 1 : 0), r);
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
    };
    // Loads low to high are whole ones; the one before and the one after may be half outside the matrix.
    const index_t low = begin.element < 0 ? 1 : 0, room_left = elements - each - begin.element;
    const index_t high = room_left < 0 ? 0 : room_left / period + 1;
    const auto add_all = [&](auto holds) {
      constexpr int most = holds.value < 0 ? 2 : rounds, few = Rhs > 1 || most < 4 ? most : 4;
      const int turn = p.terms >= most ? most : few; // the same for all pieces
      for (index_t k = at.piece * turn; k < high; k += p.pieces * turn) {
        index_t one = k < low ? low : k;
        const index_t end = k + turn < high ? k + turn : high;
        if (end - one == most) {
          add_loads(holds, fixed<most>{}, one);
          continue;
        }
        if constexpr (few < most)
          for (; one + few <= end; one += few) add_loads(holds, fixed<few>{}, one);
        for (; one < end; ++one) add_loads(holds, fixed<1>{}, one);
      }
    };
    const auto add_elements = [&](index_t k) {
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const index_t e = begin.element + k * period + j;
        if (e < 0 || e >= elements) continue;
#pragma unroll
        for (int r = 0; r < Rhs; ++r) sum[r][j] += S(number(a[e])) * factor(e / pitch, r);
      }
    };
    if (thread < p.active) {
      const bool by_lines = shift == 0 && c.x_stride == 1 && misalignment(x) == 0 && c.x_next % per_load<V> == 0;
      const int holds = pitch % each == 0 ? 1 : each % pitch == 0 ? each / pitch : 0;
      if (by_lines && holds == 1) add_all(fixed<1>{});
      else if (by_lines && holds == 2) add_all(fixed<2>{});
      else if (by_lines && holds == each) add_all(fixed<each>{});
      else if (by_lines && holds == 4 && each == 8) add_all(fixed < each == 8 ? 4 : 1 > {});
      else if (pitch >= each) add_all(fixed<0>{});
      else add_all(fixed<-1>{});
      if (low == 1 && at.piece == 0) add_elements(0);
      if (high >= low && at.piece == p.pieces - 1) add_elements(high);
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
      for (int left = lines; left > 1;) { // eight parts fold onto the first one
        const int part = (left + 7) / 8;
        for (int q = thread; q < part * pitch; q += gpu_threads) {
          S total = room[q];
#pragma unroll
          for (int i = 1; i < 8; ++i)
            if (const int other = q + i * part * pitch; other < left * pitch) total += room[other];
          room[q] = total;
        }
        left = part;
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
