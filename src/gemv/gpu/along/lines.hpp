// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::along {

inline constexpr int most_lines = 10;               ///< of a block that has all of them under way together
inline constexpr index_t item_bytes = 256 * 1024;   ///< of the matrix, worth a block
inline constexpr index_t cached_terms = 128 * 1024; ///< bytes of x that the first cache keeps

/// Blocks a multiprocessor that take so many lines a block, and loads of a line that a thread has under way together.
FURROW_HD constexpr int resident_of_lines(int lines) { return lines == 1 || lines > 6 ? 2 : resident; }
FURROW_HD constexpr int loads_of_lines(int size, int lines) {
  return lines > 5 ? 1 : lines > 2 ? 2 : (size == 2 ? 4 : 8) / lines;
}

struct lines_plan : cut { ///< terms: rounds of loads of a piece
  int lanes = 256;        ///< threads that share the lines of a group
  int lines = 4;          ///< of a group
};

/// A group of threads takes a few lines, which share x.
struct lines {
  static constexpr std::string_view name = "lines",
                                    about = "aligned lines of 32 bytes and more, 2 to 256 threads for a few";
  static constexpr bool one_vector = true;
  static constexpr int order = 30;

  static constexpr std::optional<lines_plan> fits(const gemv_shape& p, index_t multiprocessors) {
    const index_t loads = p.loads(), warps = multiprocessors * resident * (gpu_threads / 32);
    const bool units_are_faster = p.length == p.leading && loads < 8 && loads != 2 && loads != 4;
    if (!p.plain() || units_are_faster || loads > index_t(1) << 30) return {};
    lines_plan c;
    if (loads <= 64 || (loads <= 1024 && up(p.lines, 4) * p.batch >= warps)) {
      c.lanes = loads <= 2 ? 2 : loads <= 4 ? 4 : loads <= 16 ? 8 : loads <= 32 ? 16 : 32;
      // Four lines share x, which is twice as long as one of 16-bit numbers; two where that leaves too few blocks.
      c.lines = loads <= 32 || (p.size == 2 && p.lines * p.batch >= multiprocessors * 64) ? 4 : 2;
      tile(c, p.lines, gpu_threads / c.lanes * c.lines);
      return c;
    }
    // Where x stays in the first cache, two lines at a time are enough to share it.
    const bool two = p.size >= 4 && loads >= 4 * gpu_threads && p.length * p.value <= cached_terms;
    c.lines = p.lines <= most_lines ? int(p.lines) : two ? 2 : 4;
    tile(c, p.lines, c.lines);
    const index_t rounds = up(loads, gpu_threads * loads_of_lines(p.size, c.lines)), tiles = c.tiles * p.batch;
    const index_t slots = multiprocessors * resident_of_lines(c.lines);
    index_t pieces = std::min(slots, rounds);
    if (tiles > most_counters) pieces = 1;
    else if (tiles > 1)
      pieces = even_pieces(tiles, std::min(up(p.length * p.value, cached_terms), rounds), rounds, slots,
                           c.lines * p.length * p.size, item_bytes);
    split(c, rounds, up(rounds, pieces));
    return c;
  }
};

#if defined(__CUDACC__)

/// Sums of R lines over W lanes, each lane with its share of all of them, for fewer exchanges than a line at a time: at
/// each step a lane gives half of its lines away and takes the other half of its partner's. Where R > W a lane ends
/// with R / W whole sums in sum[0 ...], otherwise with one. Returns the first of the lines whose sums it has.
template <int W, int R, class S> __device__ int fold_lines(S* sum, int lane) {
  int distance = W / 2, line = 0;
#pragma unroll
  for (int half = R / 2; half > 0 && distance > 0; half /= 2, distance /= 2) {
    const bool upper = lane & distance;
    if (upper) line += half;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const S give = upper ? sum[i] : sum[i + half], keep = upper ? sum[i + half] : sum[i];
      sum[i] = keep + gpu::from_lane_across<gpu::warp>(give, distance);
    }
  }
#pragma unroll
  for (; distance > 0; distance /= 2) sum[0] += gpu::from_lane_across<gpu::warp>(sum[0], distance);
  return line;
}

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, int W, int R, int U>
inline constexpr int lines_blocks = W == gpu_threads                      ? resident_of_lines(R)
                                    : R* U == 16                          ? 2
                                    : W > 8 || (W == 8 && sizeof(T) == 4) ? 3
                                                                          : 4;

/// y <- alpha A x + beta y, one vector, for lines that are all aligned: W threads take R lines, U * R loads of 16 bytes
/// of a thread are under way at the same time. A load behind the end of its line is the line's first again and is not
/// used. A whole block takes rounds of loads by turns with those of the other pieces. Reads every byte of A once.
template <class T, class S, int W, int R, int U>
__global__ void __launch_bounds__(gpu_threads, (lines_blocks<T, W, R, U>))
    lines_kernel(call<T> c, lines_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr bool whole_block = W == gpu_threads, ahead = whole_block || R * U == 16; // x is under way with the lines
  constexpr int each = per_load<T>, groups = gpu_threads / W;
  const int lane = int(threadIdx.x) % W, group = int(threadIdx.x) / W, loads = int(c.length / each);
  const index_t line = index_t(blockIdx.x) * (groups * R) + group, left = c.lines - line;
  const int lines = left >= groups * R ? R : (int(left) + groups - 1) / groups; // 0 or less where there is none
  const T* const a = c.a_of(blockIdx.z) + (whole_block || lines > 0 ? line : 0) * c.leading;
  const V* const x = to_global(c.x_of(blockIdx.z));
  S sum[R] = {};
  const auto add_round = [&](int first, auto whole) { // whole: no load is behind the end
    bytes16 raw[U][R];
    V factor[ahead ? U : 1][each];
    const auto is_there = [&](int u) { return whole.value || first + u * W + lane < loads; };
#pragma unroll
    for (int u = 0; u < U; ++u) {
      const index_t from = index_t(is_there(u) ? first + u * W + lane : 0) * each;
#pragma unroll
      for (int i = 0; i < R; ++i) raw[u][i] = load_once(a + (i < lines ? i : 0) * (groups * c.leading) + from);
      if constexpr (ahead) load_x<each>(x + from, factor[u]);
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (is_there(u)) {
        V* const by = factor[ahead ? u : 0];
        if constexpr (!ahead) load_x<each>(x + index_t(first + u * W + lane) * each, by);
#pragma unroll
        for (int i = 0; i < R; ++i) add_products<T>(sum[i], raw[u][i], by);
      }
  };
  if constexpr (whole_block) {
    int first = int(blockIdx.y) * (W * U);
    const int step = int(p.pieces) * (W * U);
    for (; first <= loads - W * U; first += step) add_round(first, fixed<1>{});
    if (first < loads) add_round(first, fixed<0>{});
    __shared__ S room[gpu_threads];
    S total = sum_over_block<R>(sum, room);
    if (p.pieces > 1 && !join_pieces(scratch, p, R, room, total)) return;
    if (int(threadIdx.x) < lines) put_output(c, blockIdx.z, 0, line + threadIdx.x, total);
  } else {
    for (int first = 0; first < loads; first += W * U) add_round(first, fixed<0>{});
    constexpr int alike = W > R ? W / R : 1, kept = R > W ? R / W : 1; // lanes that have the same sums; sums of one
    const int mine = fold_lines<W, R>(sum, lane);
#pragma unroll
    for (int i = 0; i < kept; ++i)
      if (lane % alike == 0 && mine + i < lines) put_output(c, blockIdx.z, 0, line + (mine + i) * groups, sum[i]);
  }
}

template <class T, class S, int R> gpu_kernel<T, S, lines_plan> kernel_of_block(const lines_plan& p) {
  if constexpr (R > 1)
    if (p.lines < R) return kernel_of_block<T, S, R - 1>(p);
  return {lines_kernel<T, S, gpu_threads, R, loads_of_lines(sizeof(T), R)>};
}

template <class T, class S, int Rhs> gpu_kernel<T, S, lines_plan> kernel_of(lines, const lines_plan& p) {
  if (p.lanes == gpu_threads) return kernel_of_block<T, S, most_lines>(p);
  if (p.lanes == 2) return {lines_kernel<T, S, 2, 4, 1>};
  if (p.lanes == 4) return {lines_kernel<T, S, 4, 4, 1>};
  if (p.lanes == 8) return {lines_kernel<T, S, 8, 4, 2>};
  if (p.lanes == 16) return {lines_kernel<T, S, 16, 4, 2>};
  if constexpr (sizeof(T) == 2)
    if (p.lines == 4) return {lines_kernel<T, S, 32, 4, 4>};
  return {lines_kernel<T, S, 32, 2, 4>};
}

#endif

} // namespace furrow::dense::along
