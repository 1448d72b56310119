// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_rows.hpp"

namespace furrow::dense {

/// y <- alpha A x + beta y, one vector, for long lines that are all aligned: a block takes a strip of x into its
/// registers and runs down p.outputs lines with it, strip_rows of them under way at the same time, so that x is read
/// once for all of them. A load behind the end of its piece is the strip's first again and is not used. Reads every
/// byte of A once.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads, 2) strips_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, warps = gpu_threads / gpu::warp, R = strip_rows, U = strip_loads;
  __shared__ S room[warps][strip_outputs];
  const int lane = int(threadIdx.x) % gpu::warp, warp = int(threadIdx.x) / gpu::warp;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = strip_of(p, item);
    const index_t line = at.tile * p.outputs, first = at.piece * p.terms;
    const index_t end = c.length - first < p.terms ? c.length : first + p.terms;
    const int lines = int(c.lines - line < p.outputs ? c.lines - line : p.outputs);
    const T* const a = c.a_of(at.problem) + line * c.leading;
    const V* const x = c.x_of(at.problem);
    constexpr int width = gpu_threads * U * each;
    // Elements of the piece from a strip on; whole: no fewer than the strip has.
    const auto run_down = [&](index_t strip, auto whole, int left) {
      const T* next = a + strip + int(threadIdx.x) * each;
      const auto is_there = [&](int u) { return whole.value || (u * gpu_threads + int(threadIdx.x)) * each < left; };
      const auto offset = [&](int u) { return is_there(u) ? u * gpu_threads * each : -int(threadIdx.x) * each; };
      V factor[U][each];
#pragma unroll
      for (int u = 0; u < U; ++u) load_x<each>(x + strip + int(threadIdx.x) * each + offset(u), factor[u]);
      for (int l = 0; l < lines; l += R, next += R * c.leading) {
        bytes16 raw[R][U];
#pragma unroll
        for (int i = 0; i < R; ++i) {
          const T* const from = next + (l + i < lines ? i : 0) * c.leading;
#pragma unroll
          for (int u = 0; u < U; ++u) raw[i][u] = load_once(from + offset(u));
        }
        S sum[R] = {};
#pragma unroll
        for (int i = 0; i < R; ++i)
#pragma unroll
          for (int u = 0; u < U; ++u)
            if (is_there(u)) {
#pragma unroll
              for (int j = 0; j < each; ++j) sum[i] += S(element<T>(raw[i][u], j)) * S(factor[u][j]);
            }
        fold_lines<gpu::warp, R>(sum, lane);
        const int mine = l + folded_line<gpu::warp, R>(lane);
        if (lane % (gpu::warp / R) == 0 && mine < lines) {
          S& total = room[warp][mine];
          total = strip == first ? sum[0] : total + sum[0];
        }
      }
    };
    for (index_t strip = first; strip < end; strip += width)
      if (end - strip >= width) run_down(strip, fixed<1>{}, width);
      else run_down(strip, fixed<0>{}, int(end - strip));
    __syncthreads();
    const int which = int(threadIdx.x);
    S sum{};
    if (which < lines)
      for (int w = 0; w < warps; ++w) sum += room[w][which];
    if (p.pieces > 1) {
      const index_t tile = at.problem * p.tiles + at.tile;
      S* const partial = scratch.partial + tile * p.pieces * p.outputs;
      if (which < lines) partial[at.piece * p.outputs + which] = sum;
      if (!last_to_arrive(scratch.arrived + tile, p.pieces)) continue;
      sum = sum_pieces(partial, int(p.pieces), p.outputs, lines, &room[0][0]);
    }
    if (which < lines) put_output(c, at.problem, 0, line + which, sum);
    __syncthreads(); // before the room is used again
  }
}

} // namespace furrow::dense
