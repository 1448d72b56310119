// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"

#include <utility>
#endif

namespace furrow::dense::along {

inline constexpr int most_lines = 10; ///< that a thread has under way together
/// Blocks a multiprocessor that take `lines` of them, and loads of each that a thread has under way.
FURROW_HD constexpr int lines_blocks(int sum, int lines) { return lines == 1 || lines * sum > 28 ? 2 : resident; }
FURROW_HD constexpr int loads_of_lines(int size, int lines) {
  return lines > 5 ? 1 : lines == 5 ? 2 : (size == 2 ? 4 : 8) / lines;
}

#if defined(__CUDACC__)

/// y <- alpha A x + beta y, one vector, for R long lines that are all aligned. The blocks go round the lines
/// together, a round of neighbouring loads at a time; a thread has its loads of all lines and of x under way. Reads
/// every byte of A and of x once.
template <class T, class S, int R>
__global__ void __launch_bounds__(gpu_threads, (lines_blocks(sizeof(S), R)))
    lines_kernel(call<T> c, cut p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, loads = loads_of_lines(sizeof(T), R), step = gpu_threads * each,
                round = loads * step, warps = gpu_threads / gpu::warp;
  __shared__ S room[gpu_threads];
  const int thread = int(threadIdx.x);
  S sum[R] = {};
  const auto add_loads = [&](auto n, index_t k) {
    constexpr int N = n.value;
    bytes16 raw[N][R];
    V factor[N][each];
#pragma unroll
    for (int u = 0; u < N; ++u) {
#pragma unroll
      for (int i = 0; i < R; ++i) raw[u][i] = load_once(c.a + i * c.leading + k + u * step);
      load_x_once<each>(c.x + k + u * step, factor[u]);
    }
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sum[i] += S(element<T>(raw[u][i], j)) * S(factor[u][j]);
  };
  index_t first = index_t(blockIdx.x) * round;
  for (; first + round <= c.length; first += p.pieces * round) add_loads(fixed<loads>{}, first + thread * each);
  for (index_t k = first + thread * each; k < c.length && k < first + round; k += step) add_loads(fixed<1>{}, k);
#pragma unroll
  for (int i = 0; i < R; ++i) {
    const S of_warp = gpu::sum_lanes<gpu::warp>(sum[i]);
    if (thread % gpu::warp == 0) room[i * warps + thread / gpu::warp] = of_warp;
  }
  __syncthreads();
  S total{};
  if (thread < R)
    for (int w = 0; w < warps; ++w) total += room[thread * warps + w];
  if (p.pieces > 1) {
    if (thread < R) scratch.partial[blockIdx.x * R + thread] = total;
    if (!last_to_arrive(scratch.arrived, p.pieces)) return;
    total = sum_pieces(scratch.partial, int(p.pieces), R, R, room);
  }
  if (thread < R) put_output(c, 0, 0, thread, total);
}

#endif

struct lines {
  static constexpr std::string_view name = "lines", about = "up to ten long lines, all of them under way together";
  static constexpr bool one_vector = true;
  static constexpr int order = 60;
  using plan = cut; ///< terms: rounds of neighbouring loads

  static constexpr std::optional<plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (!p.plain() || p.batch != 1 || p.lines > most_lines || p.loads() < 8 * gpu_threads) return {};
    const int lines = int(p.lines);
    const index_t rounds = up(p.length, gpu_threads * p.per_load() * loads_of_lines(p.size, lines));
    plan c;
    tile(c, lines, lines, 1);
    split(c, rounds, up(rounds, g.multiprocessors * lines_blocks(p.value, lines)), 1);
    return c;
  }

#if defined(__CUDACC__)
  template <class T, class S, int Rhs> static gpu_kernel<T, S, plan> kernel(const call<T>& c, const plan&) {
    return of<T, S>(c.lines, std::make_integer_sequence<int, most_lines>{});
  }
  template <class T, class S, int... R>
  static gpu_kernel<T, S, plan> of(index_t lines, std::integer_sequence<int, R...>) {
    static constexpr gpu_kernel<T, S, plan> all[] = {{lines_kernel<T, S, R + 1>}...};
    return all[lines - 1];
  }
#endif
};

} // namespace furrow::dense::along
