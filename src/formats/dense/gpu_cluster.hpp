// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_across.hpp"

#include <cooperative_groups.h>

#include <utility>

namespace furrow::dense {

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, int Blocks> inline constexpr int cluster_resident = Blocks == 1 ? 2 : sizeof(T) == 4 ? 4 : 3;

/// y <- alpha A' x + beta y, one vector, without a way through the memory of the device: the lines of memory are added
/// up by `Blocks` blocks for a tile. Several are a cluster: each writes its sums into the shared memory of the block
/// that finishes them. Reads every byte of A once.
template <class T, class S, int Lanes, int Blocks>
__global__ void __launch_bounds__(cluster_threads(Blocks), (cluster_resident<T, Blocks>))
    cluster_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  constexpr int each = per_load<T>, threads = cluster_threads(Blocks), groups = threads / Lanes, width = Lanes * each;
  constexpr int rooms = Lanes < gpu::warp ? threads / gpu::warp : groups; // sums of a column that a block has
  constexpr int share = width / Blocks;                                   // outputs that a block finishes
  __shared__ S room[rooms][width];
  const int me = int(blockIdx.x) % Blocks;
  const index_t first = me * p.terms, tile = index_t(blockIdx.x / Blocks) * width;
  const index_t end = c.lines - first < p.terms ? c.lines : first + p.terms;
  const int lane = int(threadIdx.x) % Lanes, columns = int(c.length - tile < width ? c.length - tile : width);
  constexpr int unroll = sizeof(T) < 8 || Blocks == 1 ? 8 : 4;
  column_sums<T, S, 1, Lanes, groups, true, unroll> mine{c, {lane, columns}};
  const auto sums_of_warps = [&] {
    mine.add(c.a + tile, c.x, first + int(threadIdx.x) / Lanes, end);
#pragma unroll
    for (int j = 0; j < each; ++j) {
      S sum = mine.sum[0][j];
#pragma unroll
      for (int distance = gpu::warp / 2; distance >= Lanes; distance /= 2)
        sum += gpu::from_lane_across<gpu::warp>(sum, distance);
      if (int(threadIdx.x) % gpu::warp < Lanes) room[int(threadIdx.x) / (threads / rooms)][mine.part.column(j)] = sum;
    }
    __syncthreads();
  };
  const auto sum_of_block = [&](int column) {
    S sum = room[0][column];
#pragma unroll
    for (int w = 1; w < rooms; ++w) sum += room[w][column];
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

} // namespace furrow::dense
