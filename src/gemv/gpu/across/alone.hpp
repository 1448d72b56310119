// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "general.hpp"

namespace furrow::dense::across {

inline constexpr int alone_threads = 512;
/// Bytes of the matrix, at most, for a block that adds up all of its columns: where there are few blocks, and where
/// all multiprocessors have one.
inline constexpr index_t alone_bytes = 1 << 19, alone_most = 1 << 22;

/// For matrices of a few to some hundred microseconds: no sum goes through the memory of the device.
struct alone {
  static constexpr std::string_view name = "alone", about = "a block that waits for no other one for each tile";
  static constexpr bool one_vector = true;
  static constexpr int order = 40;

  static constexpr std::optional<across_plan> fits(const gemv_shape& p, index_t multiprocessors) {
    if (!p.even() || p.vectors > 1 || p.batch > 1 || p.lines < 128) return {};
    const index_t bytes = p.lines * p.length * p.size;
    for (const int lanes : {4, 8, 16}) { // the wider the tiles, the more of them
      across_plan c;
      c.terms = p.lines;
      tile(c, p.length, lanes * p.per_load());
      const index_t most = multiprocessors * (lanes == 16 ? 2 : 1) / (lanes == 4 && p.lines > 1024 ? 2 : 1);
      const bool all_work = busy(c.tiles, multiprocessors) >= 0.95;
      if (c.tiles <= most && bytes <= c.tiles * (all_work ? alone_most : alone_bytes)) return c;
    }
    return {};
  }
};

#if defined(__CUDACC__)

/// y <- alpha A' x + beta y, one vector, by a block for Lanes * 16 bytes of all lines: short, for where it runs its
/// program comes from the memory too. Reads every byte of A once.
template <class T, class S, int Lanes>
__global__ void __launch_bounds__(alone_threads, sizeof(T) == 8 ? 2 : 1)
    alone_kernel(call<T> c, across_plan, gpu_scratch<S>) {
  constexpr int each = per_load<T>, width = Lanes * each, warps = alone_threads / gpu::warp;
  constexpr int under_way = sizeof(T) == 8 || Lanes == 4 ? 8 : 16;
  __shared__ S room[warps][width];
  const int thread = int(threadIdx.x), lane = thread % Lanes;
  const index_t tile = index_t(blockIdx.x) * width;
  const int columns = int(c.length - tile < width ? c.length - tile : width);
  column_sums<T, S, 1, Lanes, alone_threads / Lanes, true, under_way> mine{c, {lane, columns}};
  mine.add(c.a + tile, c.x, thread / Lanes, c.lines);
#pragma unroll
  for (int j = 0; j < each; ++j) {
    S of_warp = mine.sum[0][j];
#pragma unroll
    for (int distance = gpu::warp / 2; distance >= Lanes; distance /= 2)
      of_warp += gpu::from_lane_across<gpu::warp>(of_warp, distance);
    if (thread % gpu::warp < Lanes) room[thread / gpu::warp][lane * each + j] = of_warp;
  }
  __syncthreads();
  if (thread >= columns) return;
  S total{};
#pragma unroll
  for (int w = 0; w < warps; ++w) total += room[w][thread];
  put_output(c, 0, 0, tile + thread, total);
}

template <class T, class S, int Rhs> gpu_kernel<T, S, across_plan> kernel_of(alone, const across_plan& p) {
  const index_t lanes = p.outputs / per_load<T>;
  return {lanes == 4   ? alone_kernel<T, S, 4>
          : lanes == 8 ? alone_kernel<T, S, 8>
                       : alone_kernel<T, S, 16>,
          alone_threads};
}

#endif

} // namespace furrow::dense::across
