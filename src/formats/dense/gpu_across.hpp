// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A' x + beta y where the lines of memory are added up. The block is G groups of threads: a group takes 16
/// bytes a thread of a line, the other groups the same bytes of the next lines; an element of x is read once a group
/// and line. Reads every byte of A once.
template <class T, class S, int Rhs, int G>
__global__ void __launch_bounds__(gpu_threads, (room_for<T, S, Rhs>))
    across_kernel(call<T> c, gpu_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, lanes = gpu_threads / G, width = lanes * each;
  constexpr int unroll = many_sums<T, S, Rhs> ? 4 : 8; // lines that a thread has under way
  __shared__ S room[G][width];
  const int lane = int(threadIdx.x) % lanes, rank = int(threadIdx.x) / lanes;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const index_t first = at.piece * p.terms, tile = at.tile * width;
    const index_t end = c.lines - first < p.terms ? c.lines : first + p.terms;
    const T* const a = c.a_of(at.problem) + tile;
    const V* const x = c.x_of(at.problem);
    const int columns = int(c.length - tile < width ? c.length - tile : width);
    S sum[Rhs][each] = {};
    // Thread l has the elements l * each + j, read 16 bytes at a time, or l + j * lanes, read one by one. Elements
    // that are not there are element 0 again, so that no load waits for a question.
    const bool whole = c.leading % each == 0 && misalignment(a) == 0 && columns % each == 0;
    const T* const mine = a + (lane * each < columns ? lane * each : 0);
    const auto add = [&](index_t line, int j, S value) {
#pragma unroll
      for (int r = 0; r < Rhs; ++r) sum[r][j] += value * S(x[line * c.x_stride + (r < c.count ? r : 0) * c.x_next]);
    };
    const auto add_loads = [&](auto n, index_t line) {
      bytes16 raw[n.value];
#pragma unroll
      for (int u = 0; u < n.value; ++u) raw[u] = load_once(mine + (line + u * G) * c.leading);
#pragma unroll
      for (int u = 0; u < n.value; ++u)
#pragma unroll
        for (int j = 0; j < each; ++j) add(line + u * G, j, S(element<T>(raw[u], j)));
    };
    const auto add_elements = [&](auto n, index_t line) {
      T raw[n.value][each];
#pragma unroll
      for (int u = 0; u < n.value; ++u)
#pragma unroll
        for (int j = 0; j < each; ++j)
          raw[u][j] = a[(line + u * G) * c.leading + (lane + j * lanes < columns ? lane + j * lanes : 0)];
#pragma unroll
      for (int u = 0; u < n.value; ++u)
#pragma unroll
        for (int j = 0; j < each; ++j) add(line + u * G, j, S(number(raw[u][j])));
    };
    index_t line = first + rank;
    if (whole) {
      for (; line + (unroll - 1) * G < end; line += unroll * G) add_loads(fixed<unroll>{}, line);
      for (; line + G < end; line += 2 * G) add_loads(fixed<2>{}, line);
      if (line < end) add_loads(fixed<1>{}, line);
    } else {
      constexpr int fewer = each > 4 ? 2 : 4;
      for (; line + (fewer - 1) * G < end; line += fewer * G) add_elements(fixed<fewer>{}, line);
      for (; line < end; line += G) add_elements(fixed<1>{}, line);
    }
    const index_t which = at.problem * p.tiles + at.tile;
    S* const partial = scratch.partial + which * p.pieces * Rhs * width;
#pragma unroll
    for (int r = 0; r < Rhs; ++r) {
      __syncthreads(); // the room is free
#pragma unroll
      for (int j = 0; j < each; ++j) room[rank][whole ? lane * each + j : lane + j * lanes] = sum[r][j];
      __syncthreads();
      for (int column = int(threadIdx.x); column < width; column += gpu_threads) {
        S total = room[0][column];
        for (int g = 1; g < G; ++g) total += room[g][column];
        if (p.pieces > 1) partial[(at.piece * Rhs + r) * width + column] = total;
        else if (column < columns && r < c.count) put_output(c, at.problem, r, tile + column, total);
      }
    }
    if (p.pieces == 1 || !last_to_arrive(scratch.arrived + which, p.pieces)) continue;
    constexpr int part = width < gpu_threads ? width : gpu_threads;
    for (int r = 0; r < c.count; ++r)
      for (int begin = 0; begin < width; begin += part) {
        const S* const from = partial + r * width + begin;
        const S total = sum_pieces(from, p.pieces, index_t(Rhs) * width, part, &room[0][0]);
        const int column = begin + int(threadIdx.x);
        if (int(threadIdx.x) < part && column < columns) put_output(c, at.problem, r, tile + column, total);
      }
  }
}

} // namespace furrow::dense
