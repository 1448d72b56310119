// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::across {

inline constexpr index_t across_bytes = 1 << 20; ///< of the matrix, worth a block
inline constexpr int across_resident = 4;        ///< blocks a multiprocessor, for one vector

struct across_plan : cut {
  bool whole = false; ///< every line is whole loads of 16 bytes
};

struct general {
  static constexpr std::string_view name = "across", about = "adds any lines up, 16 bytes of a line a thread";
  static constexpr bool one_vector = false;
  static constexpr int order = 60;

  static constexpr std::optional<across_plan> fits(const gemv_shape& p, index_t multiprocessors) {
    const index_t per_load = p.per_load();
    across_plan c;
    c.whole = p.even();
    c.terms = p.lines;
    // Lines that go round the device side by side need no sums of other groups.
    index_t slots = multiprocessors * across_resident;
    const bool wide =
        double(p.length) * double(p.batch) >= 3.0 * double(slots * gpu_threads * per_load) || p.lines < 16;
    const int groups = wide ? 1 : 8;
    const bool deep = !wide && p.vectors == 1 && p.size < 8; // eight lines under way a thread
    if (deep) slots = multiprocessors * resident;
    tile(c, p.length, gpu_threads / groups * per_load);
    const index_t tiles = c.tiles * p.batch, two = 2 * multiprocessors;
    if (tiles > most_counters) return c;
    const index_t most_useful = std::max<index_t>(1, p.lines / (groups * 8)); // eight lines a thread
    // Groups of eight lines: as many blocks as have room at the same time, less what adding many pieces up would cost.
    const index_t pieces = deep && tiles <= two
                               ? std::min(two / tiles, most_useful)
                               : even_pieces(tiles, 1, most_useful, slots, c.outputs * p.lines * p.size, across_bytes);
    // Whole rounds of loads.
    split(c, p.lines, pieces == 1 ? p.lines : up(up(p.lines, pieces), 8 * groups) * 8 * groups);
    return c;
  }
};

#if defined(__CUDACC__)

/// Blocks a multiprocessor that a kernel has registers for; lines that a thread of it has under way.
template <class T, class S, int Rhs, int Lanes> constexpr int across_blocks() {
  constexpr int registers = sum_registers<T, S, Rhs>;
  if (registers >= 16 || sizeof(S) > sizeof(vector_value<T>)) return registers >= 64 ? 1 : 2;
  if (Lanes == gpu::warp) return Rhs == 1 && sizeof(T) < 8 ? 3 : 4;
  return registers == 4 ? 5 : 4;
}
template <class T, int Rhs, int Lanes, bool Whole> constexpr int lines_under_way() {
  if (!Whole || per_load<T> * Rhs >= 32) return 2;
  return Rhs == 1 && Lanes == gpu::warp && sizeof(T) < 8 ? 8 : 4;
}

/// What one thread has of each line of a tile: 16 bytes where all lines are aligned (Whole), otherwise as many elements
/// that are Lanes apart. Elements that are not there are element 0 again, so that no load waits for a question.
template <class T, int Lanes, bool Whole> struct line_part {
  static constexpr int each = per_load<T>;
  int lane, columns;

  __device__ int column(int j) const { return Whole ? lane * each + j : lane + j * Lanes; }
  __device__ bytes16 load(const T* line) const {
    if constexpr (Whole) {
      return load_once(line + (column(0) < columns ? column(0) : 0));
    } else {
      T single[each];
#pragma unroll
      for (int j = 0; j < each; ++j) single[j] = line[column(j) < columns ? column(j) : 0];
      bytes16 all;
      std::memcpy(&all, single, 16);
      return all;
    }
  }
};

/// A thread's sums over the lines of [line, end) that are Step apart, Unroll of them under way at the same time.
template <class T, class S, int Rhs, int Lanes, int Step, bool Whole,
          int Unroll = lines_under_way<T, Rhs, Lanes, Whole>()>
struct column_sums {
  using V = vector_value<T>;
  static constexpr int each = per_load<T>;

  const call<T>& c;
  line_part<T, Lanes, Whole> part;
  S sum[Rhs][each] = {};

  template <int N> __device__ void add_lines(const T* a, const V* x) {
    bytes16 raw[N];
#pragma unroll
    for (int u = 0; u < N; ++u) raw[u] = part.load(a + u * Step * c.leading);
    V factor[N][Rhs]; // x is under way with the lines
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int r = 0; r < Rhs; ++r) factor[u][r] = x[u * Step * c.x_stride + (r < c.count ? r : 0) * c.x_next];
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int r = 0; r < Rhs; ++r) add_multiples<T>(sum[r], raw[u], factor[u][r]);
  }

  template <int N> __device__ void add_rest(const T* a, const V* x, int left) {
    if (left >= N) add_lines<N>(a, x);
    const int done = left >= N ? N : 0;
    if constexpr (N > 1) add_rest<N / 2>(a + done * Step * c.leading, x + done * Step * c.x_stride, left - done);
  }

  __device__ void add(const T* a, const V* x, index_t line, index_t end) {
    a += line * c.leading;
    x += line * c.x_stride;
    int left = line < end ? int((end - line + Step - 1) / Step) : 0;
    for (; left >= Unroll; left -= Unroll, a += Unroll * Step * c.leading, x += Unroll * Step * c.x_stride)
      add_lines<Unroll>(a, x);
    add_rest<Unroll / 2>(a, x, left);
  }
};

/// y <- alpha A' x + beta y where the lines of memory are added up. The block is groups of Lanes threads: a group takes
/// 16 bytes a thread of a line, the other groups the same bytes of the next lines; an element of x is read once a group
/// and line. Reads every byte of A once.
template <class T, class S, int Rhs, int Lanes, bool Whole>
__global__ void __launch_bounds__(gpu_threads, (across_blocks<T, S, Rhs, Lanes>()))
    across_kernel(call<T> c, across_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, groups = gpu_threads / Lanes, width = Lanes * each;
  __shared__ S room[groups][width];
  const int lane = int(threadIdx.x) % Lanes, rank = int(threadIdx.x) / Lanes;
  const index_t problem = blockIdx.z, tile = blockIdx.x * index_t(width);
  const int columns = int(c.length - tile < width ? c.length - tile : width);
  column_sums<T, S, Rhs, Lanes, groups, Whole> mine{c, {lane, columns}};
  const T* const a = c.a_of(problem) + tile;
  const V* const x = c.x_of(problem);
  if constexpr (sizeof(T) == 2 && Rhs == 1 && Lanes == gpu::warp) {
    constexpr int turn = 8 * groups; // pieces take turns: neighbouring blocks read neighbouring lines
    for (index_t first = blockIdx.y * index_t(turn); first < c.lines; first += p.pieces * turn)
      mine.add(a, x, first + rank, c.lines - first < turn ? c.lines : first + turn);
  } else {
    const index_t first = blockIdx.y * p.terms;
    mine.add(a, x, first + rank, c.lines - first < p.terms ? c.lines : first + p.terms);
  }
  S* const partial = scratch.partial + this_tile() * p.pieces * Rhs * width;
#pragma unroll
  for (int r = 0; r < Rhs; ++r) {
    if (r > 0) __syncthreads(); // the room is free
#pragma unroll
    for (int j = 0; j < each; ++j) room[rank][mine.part.column(j)] = mine.sum[r][j];
    __syncthreads();
    for (int column = int(threadIdx.x); column < width; column += gpu_threads) {
      S total = room[0][column];
#pragma unroll
      for (int g = 1; g < groups; ++g) total += room[g][column];
      if (p.pieces > 1) partial[(blockIdx.y * Rhs + r) * width + column] = total;
      else if (column < columns && r < c.count) put_output(c, problem, r, tile + column, total);
    }
  }
  if (p.pieces == 1 || !last_to_arrive(scratch, p.pieces)) return;
  constexpr int part = width < gpu_threads ? width : gpu_threads;
  for (int r = 0; r < c.count; ++r)
    for (int begin = 0; begin < width; begin += part) {
      const S total = sum_pieces(partial + r * width + begin, int(p.pieces), index_t(Rhs) * width, part, &room[0][0]);
      const int column = begin + int(threadIdx.x);
      if (int(threadIdx.x) < part && column < columns) put_output(c, problem, r, tile + column, total);
    }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, across_plan> kernel_of(general, const across_plan& p) {
  if (p.outputs == gpu_threads * per_load<T>)
    return {p.whole ? across_kernel<T, S, Rhs, 256, true> : across_kernel<T, S, Rhs, 256, false>};
  return {p.whole ? across_kernel<T, S, Rhs, 32, true> : across_kernel<T, S, Rhs, 32, false>};
}

#endif

} // namespace furrow::dense::across
