// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_across.hpp"

#include <cooperative_groups.h>

#include <utility>

namespace furrow::dense {

/// Blocks a multiprocessor that the kernel has registers for. Two of the large ones, though one comes: clusters do not
/// fill all multiprocessors otherwise.
template <class T, class S, int Lanes>
inline constexpr int cluster_resident = Lanes > gpu::warp ? (sizeof(S) == 8 ? 1 : 2)
                                        : sizeof(T) == 4  ? 4
                                                          : 3;

/// y <- alpha A' x + beta y, one vector, for matrices that are read in a few microseconds: the lines of memory are
/// added up by `cluster_blocks` blocks for a tile. Each writes its sums into the shared memory of the block that
/// finishes them, which takes less time than a way through the memory of the device. Reads every byte of A once.
template <class T, class S, int Lanes>
__global__ void __launch_bounds__(cluster_threads(Lanes), (cluster_resident<T, S, Lanes>))
    cluster_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr int each = per_load<T>, threads = cluster_threads(Lanes), groups = threads / Lanes, width = Lanes * each;
  constexpr int rooms = Lanes < gpu::warp ? threads / gpu::warp : groups; // sums of a column that a block has
  constexpr int share = width / cluster_blocks;                           // outputs that a block finishes
  __shared__ S room[rooms][width];
  __shared__ S of_block[cluster_blocks][share];
  const auto cluster = cooperative_groups::this_cluster();
  auto begun = cluster.barrier_arrive(); // a block must be there before others write to it
  const int lane = int(threadIdx.x) % Lanes, me = int(cluster.block_rank());
  const index_t first = me * p.terms, tile = index_t(blockIdx.x / cluster_blocks) * width;
  const index_t end = c.lines - first < p.terms ? c.lines : first + p.terms;
  const int columns = int(c.length - tile < width ? c.length - tile : width);
  column_sums<T, S, 1, Lanes, groups, true> mine{c, {lane, columns}};
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
  cluster.barrier_wait(std::move(begun));
  for (int column = int(threadIdx.x); column < width; column += threads) {
    S sum = room[0][column];
#pragma unroll
    for (int w = 1; w < rooms; ++w) sum += room[w][column];
    *cluster.map_shared_rank(&of_block[me][column % share], column / share) = sum;
  }
  cluster.sync();
  if (const int column = me * share + int(threadIdx.x); int(threadIdx.x) < share && column < columns) {
    S sum = of_block[0][threadIdx.x];
#pragma unroll
    for (int b = 1; b < cluster_blocks; ++b) sum += of_block[b][threadIdx.x];
    put_output(c, 0, 0, tile + column, sum);
  }
#endif
}

} // namespace furrow::dense
