// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "general.hpp"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#include <utility>
#endif

namespace furrow::dense::across {

inline constexpr int cluster_blocks = 8; ///< blocks of a cluster: as many as every device with clusters has
/// Bytes of the matrix, at most, for a block of a cluster; for one that adds up all of its columns.
inline constexpr index_t cluster_bytes = 1 << 19, block_bytes = 1 << 22;
FURROW_HD constexpr int cluster_threads(int blocks) { return blocks == 1 ? 512 : gpu_threads; }

struct cluster_plan : cut { ///< terms: lines of a block
  int lanes = 8;            ///< threads that share a line
  int together = 1;         ///< blocks that add up the columns of a tile
};

struct cluster {
  static constexpr std::string_view name = "cluster", about = "blocks that share their memory, or one, for each tile";
  static constexpr bool one_vector = true;
  static constexpr int order = 50;

  static constexpr std::optional<cluster_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (!p.even() || p.vectors > 1 || p.batch > 1 || p.lines < 128) return {};
    const index_t multiprocessors = g.multiprocessors, bytes = p.lines * p.length * p.size;
    cluster_plan c;
    const auto cut_by = [&](int lanes, int together) {
      c.lanes = lanes;
      c.together = together;
      c.terms = up(p.lines, together);
      tile(c, p.length, lanes * p.per_load(), 1);
      c.blocks *= unsigned(together);
      return index_t(c.blocks);
    };
    // Of small matrices, a block for the columns of four lanes, with two turns of loads a thread.
    if (p.lines <= 1024 && cut_by(4, 1) <= multiprocessors) return c;
    // Of larger ones where all multiprocessors get two, or one of numbers that are quickly multiplied.
    const index_t blocks = cut_by(8, 1);
    const bool one_each = blocks <= multiprocessors;
    const bool fills = blocks <= 2 * multiprocessors && busy(blocks, multiprocessors) >= 0.95;
    if (fills && bytes <= blocks * block_bytes && (!one_each || (p.size > 2 && bytes >= blocks * cluster_bytes)))
      return c;
    if (g.clusters)
      for (const int lanes : {16, 32}) // the least of a line that two blocks a multiprocessor allow
        if (const index_t n = cut_by(lanes, cluster_blocks); n <= 2 * multiprocessors && bytes <= n * cluster_bytes)
          return c;
    return {};
  }
};

#if defined(__CUDACC__)

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, int Blocks> inline constexpr int cluster_resident = Blocks == 1 ? 2 : sizeof(T) == 4 ? 4 : 3;

/// y <- alpha A' x + beta y, one vector, without a way through the memory of the device: the lines of memory are added
/// up by `Blocks` blocks for a tile. Several are a cluster: each writes its sums into the shared memory of the block
/// that finishes them. Reads every byte of A once.
template <class T, class S, int Lanes, int Blocks>
__global__ void __launch_bounds__(cluster_threads(Blocks), (cluster_resident<T, Blocks>))
    cluster_kernel(call<T> c, cluster_plan p, gpu_scratch<S>) {
  constexpr int each = per_load<T>, threads = cluster_threads(Blocks), groups = threads / Lanes, width = Lanes * each;
  constexpr int share = width / Blocks, warps = threads / gpu::warp; // share: outputs that a block finishes
  __shared__ S room[warps][width];
  const int me = int(blockIdx.x) % Blocks;
  const index_t first = me * p.terms, tile = index_t(blockIdx.x / Blocks) * width;
  const index_t end = c.lines - first < p.terms ? c.lines : first + p.terms;
  const int lane = int(threadIdx.x) % Lanes, columns = int(c.length - tile < width ? c.length - tile : width);
  constexpr int unroll = sizeof(T) < 8 || Blocks == 1 ? 8 : 4;
  column_sums<T, S, 1, Lanes, groups, true, unroll> mine{c, {lane, columns}};
  const auto sums_of_warps = [&] {
    mine.add(c.a + tile, c.x, first + int(threadIdx.x) / Lanes, end);
    sum_groups_of_warps<Lanes, each>(mine.sum[0], room);
  };
  const auto sum_of_block = [&](int column) {
    S sum = room[0][column];
#pragma unroll
    for (int w = 1; w < warps; ++w) sum += room[w][column];
    return sum;
  };
  const int column = me * share + int(threadIdx.x);
  const bool finishes = int(threadIdx.x) < share && column < columns;
  if constexpr (Blocks == 1) {
    sums_of_warps();
    if (finishes) put_output(c, 0, 0, tile + column, sum_of_block(column));
  } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __shared__ S of_block[Blocks][share];
    const auto cluster = cooperative_groups::this_cluster();
    auto begun = cluster.barrier_arrive(); // a block must be there before others write to it
    sums_of_warps();
    cluster.barrier_wait(std::move(begun));
    for (int k = int(threadIdx.x); k < width; k += threads)
      *cluster.map_shared_rank(&of_block[me][k % share], k / share) = sum_of_block(k);
    cluster.sync();
    if (!finishes) return;
    S sum = of_block[0][threadIdx.x];
#pragma unroll
    for (int b = 1; b < Blocks; ++b) sum += of_block[b][threadIdx.x];
    put_output(c, 0, 0, tile + column, sum);
#endif
  }
}

template <class T, class S, int Rhs>
gpu_kernel<T, S, cluster_plan> kernel_of(cluster, const call<T>&, const cluster_plan& p) {
  const int threads = cluster_threads(p.together);
  if (p.together == 1)
    return {.run = p.lanes == 4 ? cluster_kernel<T, S, 4, 1> : cluster_kernel<T, S, 8, 1>, .threads = threads};
  return {.run = p.lanes == 16 ? cluster_kernel<T, S, 16, cluster_blocks> : cluster_kernel<T, S, 32, cluster_blocks>,
          .threads = threads,
          .cluster = cluster_blocks};
}

#endif

} // namespace furrow::dense::across
