// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::across {

/// Bytes of the matrix for a block that adds up all of its columns alone, at least and at most; its threads, and the
/// lines that each has under way.
inline constexpr index_t alone_least = 1 << 19, alone_most = 1 << 22;
inline constexpr int alone_threads = 512, alone_rows = 16;

struct alone_plan : cut {
  int lanes = 8; ///< threads that share a line
};

/// Numbers that are quickly multiplied, in tiles that leave nothing over.
struct alone {
  static constexpr std::string_view name = "alone", about = "a block a multiprocessor, which nothing is left over for";
  static constexpr bool one_vector = true;
  static constexpr int order = 40;

  static constexpr std::optional<alone_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (p.size > 4 || !p.plain() || p.batch > 1 || p.lines < 128) return {};
    if (p.lines <= 1024 && up(p.length, 4 * p.per_load()) <= g.multiprocessors) return {}; // narrower tiles are faster
    for (const int lanes : {8, 16}) {
      alone_plan c;
      c.lanes = lanes;
      c.terms = p.lines;
      tile(c, p.length, lanes * p.per_load(), 1);
      const index_t bytes = p.lines * p.length * p.size;
      if (p.length % c.outputs == 0 && p.lines % (alone_threads / lanes * alone_rows) == 0 &&
          c.tiles <= g.multiprocessors && busy(c.tiles, g.multiprocessors) >= 0.95 && bytes >= c.tiles * alone_least &&
          bytes <= c.tiles * alone_most)
        return c;
    }
    return {};
  }
};

#if defined(__CUDACC__)

/// y <- alpha A' x + beta y, one vector, for matrices that take some ten microseconds: a block has a multiprocessor to
/// itself and adds up Lanes * 16 bytes of all lines, alone_rows neighbours of them under way a thread, whose x comes in
/// whole loads. The plan leaves nothing over, so that little code has to come from memory before the first load. Reads
/// every byte of A once.
template <class T, class S, int Lanes>
__global__ void __launch_bounds__(alone_threads, 1) alone_kernel(call<T> c, alone_plan, gpu_scratch<S>) {
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
    for (int u = 0; u < alone_rows; ++u) add_multiples<T>(sum, raw[u], factor[u]);
  }
  sum_groups_of_warps<Lanes, each>(sum, room);
  if (thread >= width) return;
  S total{};
#pragma unroll
  for (int w = 0; w < warps; ++w) total += room[w][thread];
  put_output(c, 0, 0, tile + thread, total);
}

template <class T, class S, int Rhs>
gpu_kernel<T, S, alone_plan> kernel_of(alone, const call<T>&, const alone_plan& p) {
  if constexpr (sizeof(T) > 4) return {}; // fits none of them
  else return {.run = p.lanes == 8 ? alone_kernel<T, S, 8> : alone_kernel<T, S, 16>, .threads = alone_threads};
}

#endif

} // namespace furrow::dense::across
