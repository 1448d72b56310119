// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#include <type_traits>

namespace furrow::dense::along {

/// Bytes of x that a piece may have, so that the first cache keeps them; of the matrix, worth a block.
inline constexpr index_t cached_terms = 128 * 1024, item_bytes = 256 * 1024;

struct general_plan : cut {
  int lanes = 256; ///< threads that share the lines of a group
  int lines = 4;   ///< of a group
};

struct general {
  static constexpr std::string_view name = "along", about = "sums along any lines, 8 to 256 threads for a few of them";
  static constexpr bool one_vector = false;
  static constexpr int order = 70;

  static constexpr std::optional<general_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    const index_t slots = index_t(g.multiprocessors) * resident, loads = p.loads();
    general_plan c;
    c.terms = p.length;
    // Where x stays in the first cache, two lines at a time are enough to share it.
    const bool two = p.size >= 4 && loads >= 4 * gpu_threads && p.length * p.value <= cached_terms;
    if (p.vectors > 1) c.lines = p.vectors > 4 ? 2 : 4;
    else if (p.lines <= 2) c.lines = int(p.lines);
    else c.lines = two ? 2 : 4;
    const index_t all = up(p.lines, c.lines) * p.batch, warps = slots * (gpu_threads / 32);
    if (loads <= 64 && all >= warps) c.lanes = 8;
    else if (loads <= 1024 && (all >= warps || loads <= 64)) c.lanes = 32;
    while (c.lanes < 256 && gpu_threads / c.lanes * c.lines > 2 * p.lines) c.lanes = c.lanes < 32 ? 32 : 256;
    if (c.lines != 4 && p.vectors == 1) c.lanes = 256;
    tile(c, p.lines, index_t(gpu_threads / c.lanes) * c.lines, p.batch);
    if (c.lanes < 256 || c.tiles * p.batch > most_counters) return c;
    const index_t most_useful = std::max<index_t>(1, loads / gpu_threads); // a load a thread and line
    const index_t keep = c.tiles > 1 ? up(p.length * p.value * p.vectors, cached_terms) : 1;
    const index_t at_once = g.multiprocessors * (c.lines == 1 ? 2 : resident);
    const index_t pieces = c.tiles * p.batch == 1
                               ? std::min(at_once, most_useful)
                               : even_pieces(c.tiles * p.batch, std::min(keep, most_useful), most_useful, slots,
                                             c.lines * p.length * p.size, item_bytes);
    // Whole rounds of loads, eight a thread, where a piece has several.
    const index_t round = gpu_threads * std::max(1, 8 / c.lines) * p.per_load();
    const index_t step = p.length / pieces >= 4 * round ? round : 64;
    split(c, p.length, up(up(p.length, pieces), step) * step, p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// A group's share of R lines of memory: the products of one thread, `rank` of W. Lines that are not there are line 0
/// again, so that no load waits for a question.
template <class T, class S, int Rhs, int W, int R, int U> struct line_sums {
  using V = vector_value<T>;
  static constexpr int each = per_load<T>;
  /// Counts the loads of a piece; 16-bit numbers leave no registers for a long one.
  using place = std::conditional_t<sizeof(T) == 2, int, index_t>;

  const call<T>& c;
  const T* a;    ///< first element of the piece in the first line
  index_t apart; ///< elements from a line to the next one of the group
  const V* x;    ///< the element of x that it is multiplied by
  index_t count; ///< elements of the piece
  int lines;     ///< of R that there are
  int rank;
  S sum[R][Rhs] = {};

  __device__ const T* line(int i) const { return a + (i < lines ? i : 0) * apart; }

  __device__ void add_element(index_t k) {
    V factor[Rhs];
#pragma unroll
    for (int r = 0; r < Rhs; ++r) factor[r] = x[k * c.x_stride + (r < c.count ? r : 0) * c.x_next];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const S value = S(number(line(i)[k]));
#pragma unroll
      for (int r = 0; r < Rhs; ++r) sum[i][r] += value * S(factor[r]);
    }
  }

  /// N loads of 16 bytes a line, the first of them at element k, all under way at the same time. Packed: x can be read
  /// that way too.
  template <int N, bool Packed> __device__ void add_loads(index_t k) {
    bytes16 raw[N][R];
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int i = 0; i < R; ++i) raw[u][i] = load_once(line(i) + k + u * W * each);
    constexpr bool alone = Rhs == 1 && R == 1;                              // nobody else reads this part of x
    constexpr bool ahead = alone || (Rhs == 1 && R == 2 && sizeof(T) == 4); // x is under way with the lines
    V factor[ahead ? N : 1][each];
    const auto load_factor = [&](int u, int r) {
      const V* const from = x + (r < c.count ? r : 0) * c.x_next;
      const index_t first = k + u * W * each;
      V* const to = factor[ahead ? u : 0];
      if constexpr (Packed && alone) load_x_once<each>(from + first, to);
      else if constexpr (Packed) load_x<each>(from + first, to);
      else {
#pragma unroll
        for (int j = 0; j < each; ++j) to[j] = from[(first + j) * c.x_stride];
      }
    };
    if constexpr (ahead) {
#pragma unroll
      for (int u = 0; u < N; ++u) load_factor(u, 0);
    }
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int r = 0; r < Rhs; ++r) {
        if constexpr (!ahead) load_factor(u, r);
#pragma unroll
        for (int i = 0; i < R; ++i) add_products<T>(sum[i][r], raw[u][i], factor[ahead ? u : 0]);
      }
  }

  template <bool Packed> __device__ void add_all(place head, place loads) {
    place v = rank;
    for (; v + (U - 1) * W < loads; v += U * W) add_loads<U, Packed>(head + index_t(v) * each);
    if constexpr (U > 1)
      for (; v < loads; v += W) add_loads<1, Packed>(head + index_t(v) * each);
  }

  __device__ void add() {
    if (c.leading % each != 0) { // every line is aligned in another way: an element at a time
#pragma unroll(sizeof(T) == 2 ? 1 : 4)
      for (index_t k = rank; k < count; k += W) add_element(k);
      return;
    }
    const place ahead = misalignment(a) ? each - misalignment(a) : 0, head = ahead < count ? ahead : place(count);
    const place loads = place((count - head) / each);
    for (index_t k = rank; k < head; k += W) add_element(k);
    for (index_t k = head + index_t(loads) * each + rank; k < count; k += W) add_element(k);
    const bool packed = c.x_stride == 1 && c.x_next % per_load<V> == 0 && misalignment(x + head) == 0;
    if (packed) add_all<true>(head, loads);
    else add_all<false>(head, loads);
  }
};

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, class S, int Rhs, int W, int R, int U>
inline constexpr int along_blocks = Rhs == 8 ? 1
                                    : Rhs > 1 || R == 1 || sizeof(S) > sizeof(vector_value<T>) ||
                                            (sizeof(T) == 2 && W <= gpu::warp)
                                        ? 2
                                        : resident;

/// y <- alpha A x + beta y where the sums run along the lines of memory. W threads share R lines, so that an element of
/// x serves R of them; a thread has U * R loads of 16 bytes under way. The groups of a block take lines side by side.
/// Reads every byte of A once.
template <class T, class S, int Rhs, int W, int R, int U>
__global__ void __launch_bounds__(gpu_threads, (along_blocks<T, S, Rhs, W, R, U>))
    along_kernel(call<T> c, general_plan p, gpu_scratch<S> scratch) {
  constexpr int groups = gpu_threads / W, results = R * Rhs;
  const int rank = int(threadIdx.x) % W, group = int(threadIdx.x) / W;
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const index_t line = at.tile * (groups * R) + group, left = c.lines - line, term = at.piece * p.terms;
    const int lines = left >= groups * R ? R : left > 0 ? (int(left) + groups - 1) / groups : 0;
    const index_t terms = c.length - term < p.terms ? c.length - term : p.terms;
    line_sums<T, S, Rhs, W, R, U> mine{c,
                                       c.a_of(at.problem) + line * c.leading + term,
                                       groups * c.leading,
                                       c.x_of(at.problem) + term * c.x_stride,
                                       lines > 0 ? terms : 0,
                                       lines,
                                       rank};
    mine.add();
    if constexpr (W <= gpu::warp) {
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          const S sum = gpu::sum_lanes<W>(mine.sum[i][r]);
          if (rank == 0 && i < lines && r < c.count) put_output(c, at.problem, r, line + i * groups, sum);
        }
    } else {
      constexpr int warps = gpu_threads / gpu::warp;
      __shared__ S room[results * warps > gpu_threads ? results * warps : gpu_threads];
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int r = 0; r < Rhs; ++r) {
          const S sum = gpu::sum_lanes<gpu::warp>(mine.sum[i][r]);
          if (threadIdx.x % gpu::warp == 0) room[(i * Rhs + r) * warps + threadIdx.x / gpu::warp] = sum;
        }
      __syncthreads();
      const int which = int(threadIdx.x);
      S sum{};
      if (which < results)
        for (int w = 0; w < warps; ++w) sum += room[which * warps + w];
      if (p.pieces > 1) {
        const index_t tile = at.problem * p.tiles + at.tile;
        if (!join_pieces(scratch, tile, at.piece, p.pieces, results, results, room, sum)) continue;
      }
      if (which < results && which / Rhs < lines && which % Rhs < c.count)
        put_output(c, at.problem, which % Rhs, line + which / Rhs, sum);
      __syncthreads(); // before the room is used again
    }
  }
}

template <class T, class S, int Rhs>
gpu_kernel<T, S, general_plan> kernel_of(general, const call<T>&, const general_plan& p) {
  if constexpr (Rhs == 1) {
    if (p.lines == 1) return {along_kernel<T, S, 1, 256, 1, 4>};
    if (p.lines == 2) return {along_kernel<T, S, 1, 256, 2, (per_load<T> == 8 ? 2 : 4)>};
  }
  constexpr int lines = Rhs > 4 ? 2 : 4, unroll = Rhs > 2 ? 1 : 2;
  if (p.lanes == 8) return {along_kernel<T, S, Rhs, 8, lines, unroll>};
  if (p.lanes == 32) return {along_kernel<T, S, Rhs, 32, lines, unroll>};
  return {along_kernel<T, S, Rhs, 256, lines, unroll>};
}

#endif

} // namespace furrow::dense::along
