// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lines.hpp"

namespace furrow::dense::along {

/// Lines of a group.
FURROW_HD constexpr int general_lines(int vectors) { return vectors > 4 ? 2 : 4; }

/// Several vectors, lines that are not aligned, vectors with gaps.
struct general {
  static constexpr std::string_view name = "along", about = "sums along any lines, 8 to 256 threads for a few of them";
  static constexpr bool one_vector = false;
  static constexpr int order = 70;

  static constexpr std::optional<cut> fits(const gemv_shape& p, index_t multiprocessors) {
    const index_t slots = multiprocessors * resident, loads = p.loads();
    const int lines = general_lines(p.vectors);
    cut c;
    int lanes = 256; // threads that share the lines of a group
    const index_t all = up(p.lines, lines) * p.batch, warps = slots * (gpu_threads / 32);
    if (loads <= 64 && all >= warps) lanes = 8;
    else if (loads <= 1024 && (all >= warps || loads <= 64)) lanes = 32;
    while (lanes < 256 && gpu_threads / lanes * lines > 2 * p.lines) lanes = lanes < 32 ? 32 : 256;
    tile(c, p.lines, index_t(gpu_threads / lanes) * lines);
    const index_t tiles = c.tiles * p.batch, most = std::max<index_t>(1, loads / gpu_threads); // a load a thread
    index_t pieces = 1;
    if (lanes == 256 && tiles <= most_counters)
      pieces = even_pieces(tiles, std::clamp<index_t>(up(p.length * p.value * p.vectors, cached_terms), 1, most), most,
                           slots, lines * p.length * p.size, item_bytes);
    split(c, p.length, pieces == 1 ? p.length : up(up(p.length, pieces), 64) * 64);
    return c;
  }
};

#if defined(__CUDACC__)

/// A group's share of R lines of memory: the products of one thread, `rank` of W.
template <class T, class S, int Rhs, int W, int R, int U> struct line_sums {
  using V = vector_value<T>;
  static constexpr int each = per_load<T>;

  const call<T>& c;
  const T* a;    ///< first element of the piece in the first line
  index_t apart; ///< elements from a line to the next one of the group
  const V* x;    ///< the element of x that it is multiplied by
  index_t count; ///< elements of the piece
  int lines;     ///< of R that there are
  int rank;
  S sum[R][Rhs] = {};

  __device__ const V* vector(int r) const { return x + (r < c.count ? r : 0) * c.x_next; }

  __device__ void add_element(index_t k) {
    V factor[Rhs];
#pragma unroll
    for (int r = 0; r < Rhs; ++r) factor[r] = vector(r)[k * c.x_stride];
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const S value = i < lines ? S(number(a[i * apart + k])) : S(0);
#pragma unroll
      for (int r = 0; r < Rhs; ++r) sum[i][r] += value * S(factor[r]);
    }
  }

  /// N loads of 16 bytes a line, the first of them at element k, all under way at the same time. Packed: x can be read
  /// that way too.
  template <int N, bool Packed> __device__ void add_loads(index_t k) {
    bytes16 raw[N][R] = {};
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int i = 0; i < R; ++i)
        if (i < lines) raw[u][i] = load_once(a + i * apart + k + u * W * each);
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int r = 0; r < Rhs; ++r) {
        const index_t first = k + u * W * each;
        V factor[each];
        if constexpr (Packed) {
          load_x<each>(vector(r) + first, factor);
        } else {
#pragma unroll
          for (int j = 0; j < each; ++j) factor[j] = vector(r)[(first + j) * c.x_stride];
        }
#pragma unroll
        for (int i = 0; i < R; ++i) add_products<T>(sum[i][r], raw[u][i], factor);
      }
  }

  template <bool Packed> __device__ void add_all(int head, int loads) {
    int v = rank;
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
    const int ahead = misalignment(a) ? each - misalignment(a) : 0, head = ahead < count ? ahead : int(count);
    const int loads = int((count - head) / each);
    for (index_t k = rank; k < head; k += W) add_element(k);
    for (index_t k = head + index_t(loads) * each + rank; k < count; k += W) add_element(k);
    const bool packed = c.x_stride == 1 && c.x_next % per_load<V> == 0 && misalignment(x + head) == 0;
    if (packed) add_all<true>(head, loads);
    else add_all<false>(head, loads);
  }
};

/// Blocks a multiprocessor that the kernel has registers for.
template <class T, class S, int Rhs, int W>
inline constexpr int along_blocks = Rhs == 8 ? 1
                                    : Rhs > 1 || sizeof(S) > sizeof(vector_value<T>) ||
                                            (sizeof(T) == 2 && W <= gpu::warp)
                                        ? 2
                                        : resident;

/// y <- alpha A x + beta y where the sums run along the lines of memory. W threads share R lines, so that an element of
/// x serves R of them; a thread has U * R loads of 16 bytes under way. The groups of a block take lines side by side.
/// Reads every byte of A once.
template <class T, class S, int Rhs, int W>
__global__ void __launch_bounds__(gpu_threads, (along_blocks<T, S, Rhs, W>))
    along_kernel(call<T> c, cut p, gpu_scratch<S> scratch) {
  constexpr int R = general_lines(Rhs), U = Rhs > 2 ? 1 : 2, groups = gpu_threads / W, results = R * Rhs;
  const int rank = int(threadIdx.x) % W, group = int(threadIdx.x) / W;
  const index_t problem = blockIdx.z, term = blockIdx.y * p.terms;
  const index_t line = index_t(blockIdx.x) * (groups * R) + group, left = c.lines - line;
  const int lines = left >= groups * R ? R : left > 0 ? (int(left) + groups - 1) / groups : 0;
  const index_t terms = c.length - term < p.terms ? c.length - term : p.terms;
  line_sums<T, S, Rhs, W, R, U> mine{c,
                                     c.a_of(problem) + line * c.leading + term,
                                     groups * c.leading,
                                     c.x_of(problem) + term * c.x_stride,
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
        if (rank == 0 && i < lines && r < c.count) put_output(c, problem, r, line + i * groups, sum);
      }
  } else {
    __shared__ S room[gpu_threads];
    S sum = sum_over_block<results>(&mine.sum[0][0], room);
    if (p.pieces > 1 && !join_pieces(scratch, p, results, room, sum)) return;
    const int i = int(threadIdx.x) / Rhs, r = int(threadIdx.x) % Rhs;
    if (i < lines && r < c.count) put_output(c, problem, r, line + i, sum);
  }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, cut> kernel_of(general, const cut& p) {
  const index_t lanes = gpu_threads * general_lines(Rhs) / p.outputs;
  if (lanes == 8) return {along_kernel<T, S, Rhs, 8>};
  return {lanes == 32 ? along_kernel<T, S, Rhs, 32> : along_kernel<T, S, Rhs, 256>};
}

#endif

} // namespace furrow::dense::along
