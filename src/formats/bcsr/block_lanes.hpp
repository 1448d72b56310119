// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include "backends/lanes.hpp"

namespace furrow {

/// Bytes that one load brings of a block's column, whose address is a multiple of K values: the largest power of two,
/// up to 16.
template <class V, int K> FURROW_HD constexpr int column_load() {
  constexpr int bytes = K * static_cast<int>(sizeof(V)), power = bytes & -bytes;
  return power < 16 ? power : 16;
}

/// How many blocks of edge K a group of W lanes takes at a time, a lane a column. The lanes behind them idle.
template <int K> FURROW_HD constexpr int blocks_at_once(int width) { return width / K; }

/// Lanes a block row: as many as have two blocks each in a row of `mean` blocks, at least 8, at most a warp.
constexpr int block_lanes(double mean, index_t edge, int warp) {
  int width = 8;
  while (2 * width <= warp && 2 * static_cast<double>(2 * width / edge) <= mean) width *= 2;
  return width;
}

/// sum[i] <- one lane's share of (A x)[r K + i], 0 <= i < K: a column of every blocks_at_once-th block. `load` copies
/// K values. Elements of x behind the last column are not read. `Ahead` blocks are under way at once.
template <int K, int Ahead, class V, class I, class Load>
FURROW_HD void block_row_share(lanes lane, const bcsr<V, I, cview>& a, index_t r, cview<V> x, V* sum, Load load) {
  for (int i = 0; i < K; ++i) sum[i] = V(0);
  const int stride = blocks_at_once<K>(lane.size), j = lane.rank % K;
  if (lane.rank >= stride * K) return;
  const index_t first = index_t(a.block_ptr[r]) + lane.rank / K;
  I left = static_cast<I>(a.block_ptr[r + 1] - first); // blocks from this lane's next one on
  if (left <= 0) return;
  const std::int32_t* block = a.block.data + first;
  const V* val = a.val.data + (first * K + j) * K;
  for (; left > 0; left -= Ahead * stride) {
    V column[Ahead][K], factor[Ahead];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int n = 0; n < Ahead; ++n) {
      for (int i = 0; i < K; ++i) column[n][i] = V(0);
      factor[n] = V(0);
      if (n * stride >= left) continue;
      load(val + n * stride * K * K, column[n]);
      const index_t c = index_t(block[n * stride]) * K + j;
      if (c < x.size) factor[n] = x[c];
    }
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int n = 0; n < Ahead; ++n)
      for (int i = 0; i < K; ++i) sum[i] += column[n][i] * factor[n];
    block += Ahead * stride;
    val += Ahead * stride * K * K;
  }
}

} // namespace furrow
