// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows.hpp"

namespace furrow::dense::along {

inline constexpr int strip_rows = 4, strip_loads = 4; ///< lines under way, and loads of each, where x is in registers
inline constexpr int strip_outputs = 64;              ///< most lines of a block

/// An item, taken apart so that neighbouring items are neighbouring pieces of the same tile: they read the same lines.
FURROW_HD inline gpu_item strip_of(const cut& p, index_t item) {
  gpu_item i;
  i.tile = item;
  if (p.pieces > 1) {
    i.tile = item / p.pieces;
    i.piece = item - i.tile * p.pieces;
  }
  if (i.tile >= p.tiles) {
    i.problem = i.tile / p.tiles;
    i.tile -= i.problem * p.tiles;
  }
  return i;
}

/// Lines of 16-bit numbers are half as long as their x.
struct strips {
  static constexpr std::string_view name = "strips", about = "long lines of 16-bit numbers, a strip of x in registers";
  static constexpr bool one_vector = true;
  static constexpr int order = 20;

  static constexpr std::optional<cut> fits(const gemv_shape& p, const gpu_shape& g) {
    const index_t strip = gpu_threads * strip_loads * p.per_load(), strips = up(p.length, strip);
    // Where nearly all threads have a share of one.
    if (p.size != 2 || !p.plain() || p.lines <= 16 || 4 * p.length < 3 * strip ||
        up(p.lines, 2 * strip_rows) * strips * p.batch < g.multiprocessors)
      return {};
    // Many lines for a strip of x, unless that leaves few blocks.
    index_t outputs = 2 * strip_rows;
    if (up(p.lines, 2 * outputs) * (strips > 2 ? strips : 1) * p.batch >= 8 * index_t(g.multiprocessors)) outputs *= 2;
    while (outputs < strip_outputs && up(p.lines, outputs) * p.batch > most_counters) outputs *= 2;
    cut c;
    tile(c, p.lines, outputs, p.batch);
    // One or two strips are a block's; beyond, no more pieces than a block adds up in little time.
    const bool whole = strips <= 2 || c.tiles * p.batch > most_counters;
    split(c, p.length, (whole ? strips : up(strips, 1024)) * strip, p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// y <- alpha A x + beta y, one vector, for long lines that are all aligned: a block takes a strip of x into its
/// registers and runs down p.outputs lines with it, strip_rows of them under way at the same time, so that x is read
/// once for all of them. A load behind the end of its piece is the strip's first again and is not used. Reads every
/// byte of A once.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads, 2) strips_kernel(call<T> c, cut p, gpu_scratch<S> scratch) {
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
            if (is_there(u)) add_products<T>(sum[i], raw[i][u], factor[u]);
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
    const index_t tile = at.problem * p.tiles + at.tile;
    if (p.pieces > 1 && !join_pieces(scratch, tile, at.piece, p.pieces, p.outputs, lines, &room[0][0], sum)) continue;
    if (which < lines) put_output(c, at.problem, 0, line + which, sum);
    __syncthreads(); // before the room is used again
  }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, cut> kernel_of(strips, const call<T>&, const cut&) {
  if constexpr (sizeof(T) == 2) return {strips_kernel<T, S>};
  else return {}; // fits none of them
}

#endif

} // namespace furrow::dense::along
