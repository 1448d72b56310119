// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/gpu/reduce.hpp"

namespace furrow::gpu {

/// Threads of a block, entries that it stages and rows that it finishes at most.
inline constexpr int stream_threads = 256, stream_items = 8;
inline constexpr int stream_entries = stream_threads * stream_items, stream_rows = stream_threads;

/// y <- alpha A x + beta y; x . y where `xy` has a slot. A block loads a tile of entries with neighbouring threads on
/// neighbouring entries, whatever the rows, leaves the products in shared memory and adds them up row by row with as
/// many lanes a row as the tile's rows leave it. A tile that is one long row is added up by the whole block. Reads
/// every byte of A once, coalesced.
template <class V, class I, int N>
__global__ void __launch_bounds__(stream_threads) stream_kernel(csr<V, I, cview> a, cview<std::int32_t> first, V alpha,
                                                                cview<V> x, V beta, view<V> y, sum_target<N> xy) {
  __shared__ V product[stream_entries];
  __shared__ V room[stream_threads / warp];
  const int thread = threadIdx.x;
  double dot[1] = {};
  const auto put = [&](index_t row, V sum) {
    store(alpha, sum, beta, y[row]);
    if constexpr (N > 0) dot[0] += double(x[row]) * double(y[row]);
  };

  for (index_t tile = blockIdx.x; tile < first.size - 1; tile += gridDim.x) {
    const std::int32_t row = first[tile], rows = first[tile + 1] - row;
    const I begin = a.row_ptr[row], count = a.row_ptr[row + rows] - begin;
    const V* const val = a.val.data + begin;
    const std::int32_t* const col = a.col.data + begin;

    if (count > stream_entries) {
      V sum{};
#pragma unroll 4
      for (I k = thread; k < count; k += stream_threads) sum += __ldcs(val + k) * x[__ldcs(col + k)];
      sum = sum_block<stream_threads>(sum, room);
      if (thread == 0) put(row, sum);
      __syncthreads();
      continue;
    }

    V mine[stream_items];
    std::int32_t at[stream_items];
#pragma unroll
    for (int i = 0; i < stream_items; ++i) {
      const int k = thread + i * stream_threads;
      at[i] = k < count ? __ldcs(col + k) : -1;
      mine[i] = k < count ? __ldcs(val + k) : V(0);
    }
#pragma unroll
    for (int i = 0; i < stream_items; ++i)
      if (at[i] >= 0) product[thread + i * stream_threads] = mine[i] * x[at[i]];
    __syncthreads();

    int width = 1; // lanes a row
    while (2 * width * rows <= stream_threads && width < warp) width *= 2;
    const int lane = thread % width, together = warp / width; // rows that a warp adds up at the same time
    for (int r = thread / width; r < (rows + together - 1) / together * together; r += stream_threads / width) {
      V sum{};
      if (r < rows) {
        const int end = static_cast<int>(a.row_ptr[row + r + 1] - begin);
        for (int k = static_cast<int>(a.row_ptr[row + r] - begin) + lane; k < end; k += width) sum += product[k];
      }
      for (int distance = width / 2; distance > 0; distance /= 2) sum += from_lane_above<warp>(sum, distance);
      if (lane == 0 && r < rows) put(row + r, sum);
    }
    __syncthreads();
  }
  finish<stream_threads, N>(dot, xy);
}

} // namespace furrow::gpu
