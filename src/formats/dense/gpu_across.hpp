// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

inline constexpr int across_warps = gpu_threads / gpu::warp;

/// y <- alpha A' x + beta y where the lines of memory are added up. A warp takes 512 bytes of a line, its neighbours
/// the same bytes of the next lines; an element of x is read once a warp and line. Reads every byte of A once.
template <class T, class S, int Rhs>
__global__ void __launch_bounds__(gpu_threads, (room_for<T, S, Rhs>))
    across_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, width = gpu::warp * each;
  constexpr int across_unroll = many_sums<T, S, Rhs> ? 4 : 8; // lines that a thread has under way
  __shared__ S room[across_warps][width];
  const int lane = int(threadIdx.x) % gpu::warp, rank = int(threadIdx.x) / gpu::warp;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const index_t first = at.piece * p.terms, tile = at.tile * width;
    const index_t end = c.lines - first < p.terms ? c.lines : first + p.terms;
    const T* const a = c.a_of(at.problem) + tile;
    const V* const x = c.x_of(at.problem);
    const int columns = int(c.length - tile < width ? c.length - tile : width);
    S sum[Rhs][each] = {};
    const auto factors = [&](index_t line, V* factor) {
#pragma unroll
      for (int r = 0; r < Rhs; ++r) factor[r] = x[line * c.x_stride + (r < c.count ? r : 0) * c.x_next];
    };
    // Lane l has the elements l * each + j, read 16 bytes at a time, or l + j * 32, read one by one.
    const bool whole = c.leading % each == 0 && misalignment(a) == 0 && columns % each == 0;
    if (whole) {
      const bool used = lane * each < columns;
      for (index_t line = first + rank; line < end; line += across_warps * across_unroll) {
        bytes16 raw[across_unroll];
#pragma unroll
        for (int u = 0; u < across_unroll; ++u)
          if (used && line + u * across_warps < end)
            raw[u] = load_once(a + (line + u * across_warps) * c.leading + lane * each);
#pragma unroll
        for (int u = 0; u < across_unroll; ++u) {
          if (line + u * across_warps >= end) break;
          V factor[Rhs];
          factors(line + u * across_warps, factor);
          if (used) {
#pragma unroll
            for (int j = 0; j < each; ++j) {
              const S value = S(element<T>(raw[u], j));
#pragma unroll
              for (int r = 0; r < Rhs; ++r) sum[r][j] += value * S(factor[r]);
            }
          }
        }
      }
    } else {
      constexpr int unroll = each > 4 ? across_unroll / 2 : across_unroll;
      for (index_t line = first + rank; line < end; line += across_warps * unroll) {
        T raw[unroll][each];
#pragma unroll
        for (int u = 0; u < unroll; ++u)
#pragma unroll
          for (int j = 0; j < each; ++j)
            if (line + u * across_warps < end && lane + j * gpu::warp < columns)
              raw[u][j] = a[(line + u * across_warps) * c.leading + lane + j * gpu::warp];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
          if (line + u * across_warps >= end) break;
          V factor[Rhs];
          factors(line + u * across_warps, factor);
#pragma unroll
          for (int j = 0; j < each; ++j)
            if (lane + j * gpu::warp < columns) {
              const S value = S(number(raw[u][j]));
#pragma unroll
              for (int r = 0; r < Rhs; ++r) sum[r][j] += value * S(factor[r]);
            }
        }
      }
    }
    const index_t which = at.problem * p.tiles + at.tile;
    S* const partial = scratch.partial + which * p.pieces * Rhs * width;
    const int column = int(threadIdx.x);
#pragma unroll
    for (int r = 0; r < Rhs; ++r) {
      __syncthreads(); // the room is free
#pragma unroll
      for (int j = 0; j < each; ++j) room[rank][whole ? lane * each + j : lane + j * gpu::warp] = sum[r][j];
      __syncthreads();
      if (column >= width) continue;
      S total = room[0][column];
      for (int w = 1; w < across_warps; ++w) total += room[w][column];
      if (p.pieces > 1) partial[(at.piece * Rhs + r) * width + column] = total;
      else if (column < columns && r < c.count) put_output(c, at.problem, r, tile + column, total);
    }
    if (p.pieces == 1 || !last_to_arrive(scratch.arrived + which, p.pieces)) continue;
    for (int r = 0; r < c.count; ++r) {
      const S total = sum_pieces(partial + r * width, p.pieces, index_t(Rhs) * width, width, &room[0][0]);
      if (column < columns) put_output(c, at.problem, r, tile + column, total);
    }
  }
}

} // namespace furrow::dense
