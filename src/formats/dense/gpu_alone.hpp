// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A' x + beta y, one vector, for matrices that take some ten microseconds: a block has a multiprocessor to
/// itself and adds up Lanes * 16 bytes of all lines, alone_rows neighbours of them under way a thread, whose x comes in
/// whole loads. The plan leaves nothing over, so that little code has to come from memory before the first load. Reads
/// every byte of A once.
template <class T, class S, int Lanes>
__global__ void __launch_bounds__(alone_threads, 1) alone_kernel(call<T> c, gpu_plan, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, groups = alone_threads / Lanes, width = Lanes * each;
  constexpr int warps = alone_threads / gpu::warp;
  __shared__ S room[warps][width];
  const int thread = int(threadIdx.x), lane = thread % Lanes, group = thread / Lanes;
  const int lines = int(c.lines);
  const index_t tile = index_t(blockIdx.x) * width;
  const T* const a = c.a + tile + lane * each;
  S sum[each] = {};
  for (int line = group * alone_rows; line < lines; line += groups * alone_rows) {
    bytes16 raw[alone_rows];
    V factor[alone_rows];
#pragma unroll
    for (int u = 0; u < alone_rows; ++u) raw[u] = load_once(a + (line + u) * c.leading);
#pragma unroll
    for (int u = 0; u < alone_rows; u += per_load<V>) load_x<per_load<V>>(c.x + line + u, factor + u);
#pragma unroll
    for (int u = 0; u < alone_rows; ++u)
#pragma unroll
      for (int j = 0; j < each; ++j) sum[j] += S(element<T>(raw[u], j)) * S(factor[u]);
  }
#pragma unroll
  for (int j = 0; j < each; ++j) {
#pragma unroll
    for (int distance = gpu::warp / 2; distance >= Lanes; distance /= 2)
      sum[j] += gpu::from_lane_across<gpu::warp>(sum[j], distance);
    if (thread % gpu::warp < Lanes) room[thread / gpu::warp][lane * each + j] = sum[j];
  }
  __syncthreads();
  if (thread >= width) return;
  S total{};
#pragma unroll
  for (int w = 0; w < warps; ++w) total += room[w][thread];
  put_output(c, 0, 0, tile + thread, total);
}

} // namespace furrow::dense
