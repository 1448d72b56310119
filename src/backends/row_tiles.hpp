// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lanes.hpp"
#include "unroll.hpp"

#if defined(__CUDACC__)
#include "gpu/launch.hpp"
#include "gpu/row_end.hpp"
#endif

/// Any format with `tile_sums(A, tile, row, x, sum)`, which adds up several rows by one thread, gets its GPU kernel
/// from here. For formats that store neighbouring rows side by side.
namespace furrow {

/// Rows [first, first + rows); a thread takes every `apart`-th of them, so that neighbouring threads read neighbouring
/// places, in A, x and y alike: whole lines, wherever x starts.
struct row_tile {
  index_t first, rows, apart;
};

inline constexpr int tile_threads = 256;

/// Something that is read once: not to be kept in the first cache.
template <class T> FURROW_HD T read_once(const T* at) {
#if defined(__CUDA_ARCH__)
  return __ldcs(at);
#else
  return *at;
#endif
}

#if defined(__CUDACC__)
namespace gpu {

/// Blocks that a multiprocessor should have room for: threads that take one row need fewer registers, unless they keep
/// five sums.
template <int R, int N = 0> constexpr int tile_blocks = R == 1 && N < gram_sums ? 6 : 4;

/// y <- alpha A x + beta y with R rows a thread, and what `ending` asks for. Blocks stride over
/// the tiles, so any grid will do. Reads every place of A at most once.
template <int R, class A, class V, int N>
__global__ void __launch_bounds__(tile_threads, tile_blocks<R, N>)
    tiles_kernel(A a, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending) {
  constexpr index_t size = index_t(R) * tile_threads;
  double dots[N ? N : 1] = {};
  take_turn();
  for (index_t first = blockIdx.x * size; first < a.shape.rows; first += gridDim.x * size) {
    V sum[R] = {};
    const index_t row = first + threadIdx.x;
    tile_sums(a, row_tile{first, size, tile_threads}, row, x, sum);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const index_t i = row + r * tile_threads;
      if (i >= a.shape.rows) break;
      ending(alpha, sum[r], beta, y, i, dots);
    }
  }
  finish<tile_threads, N>(dots, ending);
}

/// Whether tiles of R rows a thread fill the device; below, a product is a matter of latency.
template <int R> bool tiles_fill(index_t rows, const queue& q) {
  return rows >= index_t(R) * tile_threads * tile_blocks<R> * q.multiprocessors;
}

template <int R, class A, class V, int N>
void launch_tiles(const A& a, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending) {
  const queue& q = current_queue();
  const index_t tiles = (a.shape.rows + R * tile_threads - 1) / (R * tile_threads);
  // A pass with sums may have no more blocks than there is room for partial sums; the others cover all tiles.
  const unsigned blocks = N > 0 ? blocks_for(tiles, 1, q, tile_blocks<R, N>) : static_cast<unsigned>(tiles);
  launch(tiles_kernel<R, A, V, N>, blocks, tile_threads, 0, q, a, alpha, x, beta, y, ending);
}

} // namespace gpu
#endif

} // namespace furrow
