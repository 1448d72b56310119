// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_lanes.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"

#include <type_traits>

namespace furrow::gpu {

inline constexpr int block_threads = 256;
/// Blocks of threads that a multiprocessor should have room for: as many as leave registers for the values under way.
template <int K> inline constexpr int block_residents = K <= 3 ? 4 : 3;

/// K values of a block's column in the widest loads that their address allows. One load for all passes the first cache;
/// of several, the later ones find there what the first brought.
template <int K> struct load_column {
  template <class V> __device__ void operator()(const V* from, V* to) const {
    constexpr int bytes = column_load<V, K>(), at_once = bytes / int(sizeof(V));
    if constexpr (at_once == 1) {
#pragma unroll
      for (int i = 0; i < K; ++i) to[i] = __ldg(from + i);
    } else {
      using word = std::conditional_t<bytes == 16, uint4, uint2>;
      union {
        word whole;
        V value[at_once];
      } part;
#pragma unroll
      for (int i = 0; i < K; i += at_once) {
        const auto* const at = reinterpret_cast<const word*>(from + i);
        part.whole = at_once == K ? __ldcs(at) : __ldg(at);
#pragma unroll
        for (int n = 0; n < at_once; ++n) to[i + n] = part.value[n];
      }
    }
  }
};

/// y <- alpha A x + beta y, and what `ending` asks for. W lanes a block row. A lane takes a column of a block: K
/// values that lie side by side, one element of x for all of them, and neighbouring lanes read on where it stops. The K
/// sums of a lane are added over the group, then its first K lanes write a row each.
template <int K, int W, class V, class I, int N>
__global__ void __launch_bounds__(block_threads, block_residents<K>)
    blocks_kernel(bcsr<V, I, cview> a, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending) {
  static_assert(W >= K && W <= warp);
  constexpr int ahead = K == 2 ? 4 : K == 3 ? 3 : K == 4 ? 2 : 1; // blocks: a lane has some 8 values under way
  const lanes lane{static_cast<int>(threadIdx.x) % W, W};
  const index_t groups = index_t(gridDim.x) * (block_threads / W), block_rows = blocks_over(a.shape.rows, K);
  double dots[N ? N : 1] = {};
  take_turn();
  for (index_t r = (index_t(blockIdx.x) * block_threads + threadIdx.x) / W; r < block_rows; r += groups) {
    V sum[K], mine{};
    block_row_share<K, ahead>(lane, a, r, x, sum, load_column<K>{});
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const V total = sum_lanes_for_all<W>(sum[i]);
      if (lane.rank == i) mine = total;
    }
    const index_t row = r * K + lane.rank;
    if (lane.rank >= K || row >= a.shape.rows) continue;
    ending(alpha, mine, beta, y, row, dots);
  }
  finish<block_threads, N>(dots, ending);
}

} // namespace furrow::gpu
