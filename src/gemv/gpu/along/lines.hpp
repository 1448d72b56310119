// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::along {

inline constexpr int most_lines = 10; ///< that a thread has under way together
/// Blocks a multiprocessor that take `lines` of them, and loads of each that a thread has under way.
FURROW_HD constexpr int lines_blocks(int sum, int lines) { return lines == 1 || lines * sum > 28 ? 2 : resident; }
FURROW_HD constexpr int loads_of_lines(int size, int lines) {
  return lines > 5 ? 1 : lines == 5 ? 2 : (size == 2 ? 4 : 8) / lines;
}

struct lines {
  static constexpr std::string_view name = "lines", about = "up to ten long lines, all of them under way together";
  static constexpr bool one_vector = true;
  static constexpr int order = 60;

  static constexpr std::optional<cut> fits(const gemv_shape& p, const gpu_shape& g) {
    if (!p.plain() || p.batch != 1 || p.lines > most_lines || p.loads() < 8 * gpu_threads) return {};
    const int lines = int(p.lines);
    const index_t rounds = up(p.length, gpu_threads * p.per_load() * loads_of_lines(p.size, lines));
    cut c;
    tile(c, lines, lines, 1);
    split(c, rounds, up(rounds, g.multiprocessors * lines_blocks(p.value, lines)), 1);
    return c;
  }
};

#if defined(__CUDACC__)

/// y <- alpha A x + beta y, one vector, for R long lines that are all aligned. The blocks go round the lines
/// together, a round of neighbouring loads at a time; a thread has its loads of all lines and of x under way. Reads
/// every byte of A and of x once.
template <class T, class S, int R>
__global__ void __launch_bounds__(gpu_threads, (lines_blocks(sizeof(S), R)))
    lines_kernel(call<T> c, cut p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, loads = loads_of_lines(sizeof(T), R), step = gpu_threads * each,
                round = loads * step;
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
      for (int i = 0; i < R; ++i) add_products<T>(sum[i], raw[u][i], factor[u]);
  };
  index_t first = index_t(blockIdx.x) * round;
  for (; first + round <= c.length; first += p.pieces * round) add_loads(fixed<loads>{}, first + thread * each);
  for (index_t k = first + thread * each; k < c.length && k < first + round; k += step) add_loads(fixed<1>{}, k);
  S total = sum_over_block<R>(sum, room);
  if (p.pieces > 1) {
    if (thread < R) scratch.partial[blockIdx.x * R + thread] = total;
    if (!last_to_arrive(scratch.arrived, p.pieces)) return;
    total = sum_pieces(scratch.partial, int(p.pieces), R, R, room);
  }
  if (thread < R) put_output(c, 0, 0, thread, total);
}

template <class T, class S, int Rhs, int R = most_lines>
gpu_kernel<T, S, cut> kernel_of(lines way, const call<T>& c, const cut& p) {
  if constexpr (R > 1)
    if (c.lines < R) return kernel_of<T, S, Rhs, R - 1>(way, c, p);
  return {lines_kernel<T, S, R>};
}

#endif

} // namespace furrow::dense::along
