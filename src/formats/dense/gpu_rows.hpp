// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

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
    rows_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
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
          for (int i = 0; i < R; ++i)
#pragma unroll
            for (int j = 0; j < each; ++j) sum[i] += S(element<T>(raw[u][i], j)) * S(by[j]);
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

/// The same for one problem where nothing is left over: a warp has two lines of whole turns of eight loads each, and
/// all blocks run from the beginning. No load asks whether it is there, and no block waits for another to end. The
/// warps of a block begin at different turns, so that what is under way is not all at the same place of a line.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads, 2) even_rows_kernel(call<T> c, gpu_plan, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, U = even_turn, R = even_rows, alike = gpu::warp / R;
  const int lane = int(threadIdx.x) % gpu::warp, warp = int(threadIdx.x) / gpu::warp, length = int(c.length);
  const index_t line = (index_t(blockIdx.x) * (gpu_threads / gpu::warp) + warp) * R;
  const T* const a = c.a + line * c.leading + lane * each;
  const V* const x = to_global(c.x) + lane * each;
  constexpr int turn = U * gpu::warp * each;
  S sum[R] = {};
  int at = warp * turn - small_quotient(warp * turn, length) * length;
#pragma unroll 1
  for (int left = length; left > 0; left -= turn) {
    bytes16 raw[U][R];
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int i = 0; i < R; ++i) raw[u][i] = load_once(a + i * c.leading + at + u * gpu::warp * each);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      V by[each];
      load_x<each>(x + at + u * gpu::warp * each, by);
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sum[i] += S(element<T>(raw[u][i], j)) * S(by[j]);
    }
    at = at + turn == length ? 0 : at + turn;
  }
  fold_lines<gpu::warp, R>(sum, lane);
  if (lane % alike == 0) put_output(c, 0, 0, line + folded_line<gpu::warp, R>(lane), sum[0]);
}

/// The same where there are more lines than that, of whole turns of a block.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads, resident) even_line_kernel(call<T> c, gpu_plan, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, U = even_turn, warps = gpu_threads / gpu::warp;
  __shared__ S room[warps];
  const int thread = int(threadIdx.x);
  const T* a = c.a + index_t(blockIdx.x) * c.leading + thread * each;
  const V* x = to_global(c.x) + thread * each;
  constexpr int turn = U * gpu_threads * each;
  S sum{};
#pragma unroll 1
  for (int left = int(c.length); left > 0; left -= turn, a += turn, x += turn) {
    bytes16 raw[U];
#pragma unroll
    for (int u = 0; u < U; ++u) raw[u] = load_once(a + u * gpu_threads * each);
#pragma unroll
    for (int u = 0; u < U; ++u) {
      V by[each];
      load_x<each>(x + u * gpu_threads * each, by);
#pragma unroll
      for (int j = 0; j < each; ++j) sum += S(element<T>(raw[u], j)) * S(by[j]);
    }
  }
  sum = gpu::sum_lanes<gpu::warp>(sum);
  if (thread % gpu::warp == 0) room[thread / gpu::warp] = sum;
  __syncthreads();
  if (thread != 0) return;
  sum = room[0];
#pragma unroll
  for (int w = 1; w < warps; ++w) sum += room[w];
  put_output(c, 0, 0, index_t(blockIdx.x), sum);
}

} // namespace furrow::dense
