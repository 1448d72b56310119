// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::along {

inline constexpr index_t short_bytes = 256; ///< of a line of which 256 are many

struct rows_plan : cut {
  int lanes = 32; ///< threads that share the lines of a group
  int lines = 4;  ///< of a group
};

struct rows {
  static constexpr std::string_view name = "rows", about = "many aligned lines of 32 bytes to some KiB";
  static constexpr bool one_vector = true;
  static constexpr int order = 30;

  static constexpr std::optional<rows_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    const index_t loads = p.loads(), warps = index_t(g.multiprocessors) * resident * (gpu_threads / 32);
    const bool fit = loads == 2 || loads == 4 || (loads >= 8 && loads <= 1024);
    const bool many =
        p.length * p.size <= short_bytes ? p.lines >= 256 : loads <= 64 || up(p.lines, 4) * p.batch >= warps;
    if (!p.plain() || !fit || !many) return {};
    rows_plan c;
    c.lanes = loads <= 4 ? int(loads) : loads <= 16 ? 8 : loads <= 32 ? 16 : 32;
    // Four lines share x, which is twice as long as one of 16-bit numbers; two where that leaves too few blocks.
    c.lines = loads <= 32 || (p.size == 2 && p.lines * p.batch >= index_t(g.multiprocessors) * 64) ? 4 : 2;
    c.terms = p.length;
    tile(c, p.lines, gpu_threads / c.lanes * c.lines, p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// Sums of R lines over W lanes, each lane with its share of all of them, for fewer exchanges than a line at a time: at
/// each step a lane gives half of its lines away and takes the other half of its partner's. Where R > W a lane ends
/// with R / W whole sums in sum[0 ...], otherwise with one.
template <int W, int R, class S> __device__ void fold_lines(S* sum, int lane) {
  int distance = W / 2;
#pragma unroll
  for (int half = R / 2; half > 0 && distance > 0; half /= 2, distance /= 2) {
    const bool upper = lane & distance;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const S give = upper ? sum[i] : sum[i + half], keep = upper ? sum[i + half] : sum[i];
      sum[i] = keep + gpu::from_lane_across<gpu::warp>(give, distance);
    }
  }
#pragma unroll
  for (; distance > 0; distance /= 2) sum[0] += gpu::from_lane_across<gpu::warp>(sum[0], distance);
}

/// The first of the lines whose sums `lane` has after that.
template <int W, int R> FURROW_HD int folded_line(int lane) {
  int line = 0;
  for (int half = R / 2, distance = W / 2; half > 0 && distance > 0; half /= 2, distance /= 2)
    if (lane & distance) line += half;
  return line;
}

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, int W, int R, int U>
inline constexpr int rows_blocks = R* U == 16                            ? 2
                                   : W > 8 || (W == 8 && sizeof(T) == 4) ? 3
                                                                         : 4;

/// y <- alpha A x + beta y, one vector, for many lines of memory of 32 bytes to some KiB that are all aligned: W lanes
/// take R lines, U * R loads of 16 bytes of a thread are under way at the same time. A load behind the end of its line
/// is the line's first again and is not used. Reads every byte of A once.
template <class T, class S, int W, int R, int U>
__global__ void __launch_bounds__(gpu_threads, (rows_blocks<T, W, R, U>))
    rows_kernel(call<T> c, rows_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, groups = gpu_threads / W, kept = R > W ? R / W : 1;
  const int lane = int(threadIdx.x) % W, group = int(threadIdx.x) / W, loads = int(c.length / each);
  index_t item = blockIdx.x;
  do { // the first loads do not wait for the number of items
    const gpu_item at = item_of(p, item);
    const index_t line = at.tile * (groups * R) + group, left = c.lines - line;
    const int lines = left >= groups * R ? R : (int(left) + groups - 1) / groups; // 0 or less where there is none
    const T* const a = c.a_of(at.problem) + (lines > 0 ? line : 0) * c.leading;
    const V* const x = to_global(c.x_of(at.problem));
    S sum[R] = {};
    for (int first = 0; first < loads; first += W * U) {
      constexpr bool ahead = R * U == 16; // x is under way with the lines
      bytes16 raw[U][R];
      V factor[ahead ? U : 1][each];
#pragma unroll
      for (int u = 0; u < U; ++u) {
        const int load = first + u * W + lane, there = load < loads ? load : 0;
#pragma unroll
        for (int i = 0; i < R; ++i)
          raw[u][i] = load_once(a + (i < lines ? i : 0) * (groups * c.leading) + there * each);
        if constexpr (ahead) load_x<each>(x + there * each, factor[u]);
      }
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (const int load = first + u * W + lane; load < loads) {
          V* const by = factor[ahead ? u : 0];
          if constexpr (!ahead) load_x<each>(x + load * each, by);
#pragma unroll
          for (int i = 0; i < R; ++i) add_products<T>(sum[i], raw[u][i], by);
        }
    }
    fold_lines<W, R>(sum, lane);
    constexpr int alike = W > R ? W / R : 1; // lanes that have the same sums
    const int mine = folded_line<W, R>(lane);
#pragma unroll
    for (int i = 0; i < kept; ++i)
      if (lane % alike == 0 && mine + i < lines) put_output(c, at.problem, 0, line + (mine + i) * groups, sum[i]);
  } while ((item += gridDim.x) < p.items(c.batch));
}

template <class T, class S, int Rhs> gpu_kernel<T, S, rows_plan> kernel_of(rows, const call<T>&, const rows_plan& p) {
  if (p.lanes == 2) return {rows_kernel<T, S, 2, 4, 1>};
  if (p.lanes == 4) return {rows_kernel<T, S, 4, 4, 1>};
  if (p.lanes == 8) return {rows_kernel<T, S, 8, 4, 2>};
  if (p.lanes == 16) return {rows_kernel<T, S, 16, 4, 2>};
  if constexpr (sizeof(T) == 2)
    if (p.lines == 4) return {rows_kernel<T, S, 32, 4, 4>};
  return {rows_kernel<T, S, 32, 2, 4>};
}

#endif

} // namespace furrow::dense::along
