// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include "backends/gpu/block_rows.hpp"

/// Products with several vectors, a block row at a time: an element of X serves the K rows of a block, where a walk
/// along each row reads it once a row.
namespace furrow::gpu {

inline constexpr int block_row_vectors = 2; ///< of a thread: K times as many sums stay in registers

/// Y <- A X. 2^shift threads beside each other take the vectors of an element of X, a line of it; `sharing` such groups
/// take every sharing-th block of a block row, and their sums are added across the warp. A column of the last block
/// that sticks out of the matrix is zero, and meets an element that is there.
template <int K, class V, class I>
__global__ void __launch_bounds__(several_threads)
    block_rows_kernel(bcsr<V, I, cview> a, int shift, int sharing, bool aligned, cview<V> x, view<V> y) {
  constexpr int P = block_row_vectors;
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_threads + threadIdx.x, group = thread >> shift;
  const int first = P * (static_cast<int>(thread) & ((1 << shift) - 1)), rank = static_cast<int>(group) & (sharing - 1);
  const index_t r = group / sharing;
  const bool in = r < blocks_over(a.shape.rows, K);
  V sum[K][P] = {};
  if (in)
    for (index_t b = index_t(a.block_ptr[r]) + rank, end = a.block_ptr[r + 1]; b < end; b += sharing) {
      const index_t left = index_t(a.block[b]) * K;
      const V* const val = a.val.data + b * K * K;
      V of_x[K][P];
#pragma unroll
      for (int c = 0; c < K; ++c) {
        const index_t col = left + c < a.shape.cols ? left + c : left;
        load_elements(x.data + (col << shift) * P + first, aligned, of_x[c]);
      }
#pragma unroll
      for (int c = 0; c < K; ++c)
#pragma unroll
        for (int i = 0; i < K; ++i) {
          const V value = val[c * K + i];
#pragma unroll
          for (int q = 0; q < P; ++q) sum[i][q] += value * of_x[c][q];
        }
    }
  for (int distance = sharing / 2; distance > 0; distance /= 2)
#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
      for (int q = 0; q < P; ++q) sum[i][q] += from_lane_across<warp>(sum[i][q], distance << shift);
  if (!in) return;
#pragma unroll
  for (int i = 0; i < K; ++i) {
    const index_t row = r * K + i;
    if (i % sharing != rank || row >= a.shape.rows) continue;
    V* const to = y.data + (row << shift) * P + first;
#pragma unroll
    for (int q = 0; q < P; ++q) to[q] = sum[i][q];
  }
}

/// The same for 2, 4, 8 or 16 vectors and block rows of `mean` blocks.
template <int K, class V, class I>
void multiply_block_rows(const bcsr<V, I, cview>& a, double mean, cview<V> x, view<V> y, index_t count) {
  constexpr double long_row = 6; // from here on four groups share a block row, otherwise two
  if (y.empty()) return;
  int shift = 0;
  while (index_t(block_row_vectors) << shift < count) ++shift;
  const int sharing = mean < long_row ? 2 : 4;
  const index_t threads = blocks_over(a.shape.rows, K) * sharing << shift;
  launch(block_rows_kernel<K, V, I>, static_cast<unsigned>((threads + several_threads - 1) / several_threads),
         several_threads, 0, current_queue(), a, shift, sharing, are_aligned<block_row_vectors>(x), x, y);
}

} // namespace furrow::gpu
