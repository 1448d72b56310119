// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::across {

inline constexpr index_t across_bytes = 1 << 20; ///< of the matrix, worth a block
inline constexpr int across_resident = 4;        ///< blocks a multiprocessor, for one vector

struct general_plan : cut {
  bool whole = false; ///< every line is whole loads of 16 bytes
};

struct general {
  static constexpr std::string_view name = "across", about = "adds any lines up, 16 bytes of a line a thread";
  static constexpr bool one_vector = false;
  static constexpr int order = 60;

  static constexpr std::optional<general_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    const index_t per_load = p.per_load(), multiprocessors = g.multiprocessors;
    general_plan c;
    c.sides = true;
    c.whole = p.even();
    c.terms = p.lines;
    // Lines that go round the device side by side need no sums of other groups.
    index_t slots = multiprocessors * across_resident;
    const bool wide =
        double(p.length) * double(p.batch) >= 3.0 * double(slots * gpu_threads * per_load) || p.lines < 16;
    const int groups = wide ? 1 : 8;
    const bool deep = !wide && p.vectors == 1 && p.size < 8; // eight lines under way a thread
    if (deep) slots = multiprocessors * resident;
    tile(c, p.length, gpu_threads / groups * per_load, p.batch);
    const index_t tiles = c.tiles * p.batch, two = 2 * multiprocessors;
    if (tiles > most_counters) return c;
    const index_t most_useful = std::max<index_t>(1, p.lines / (groups * 8)); // eight lines a thread
    // Groups of eight lines: as many blocks as have room at the same time, less what adding many pieces up would cost.
    const index_t pieces = deep && tiles <= two
                               ? std::min(two / tiles, most_useful)
                               : even_pieces(tiles, 1, most_useful, slots, c.outputs * p.lines * p.size, across_bytes);
    // Whole rounds of loads.
    split(c, p.lines, pieces == 1 ? p.lines : up(up(p.lines, pieces), 8 * groups) * 8 * groups, p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// Blocks a multiprocessor for kernels whose threads have that many.
template <class T, class S, int Rhs, int G>
inline constexpr int across_blocks = sum_registers<T, S, Rhs> >= 64                                          ? 1
                                     : sum_registers<T, S, Rhs> >= 16 || sizeof(S) > sizeof(vector_value<T>) ? 2
                                     : Rhs == 1 && G > 1 && sizeof(T) < 8                                    ? 3
                                     : sum_registers<T, S, Rhs> == 4 && G == 1                               ? 5
                                                                                                             : 4;

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

/// Loads that a thread of such a kernel has under way where Step groups take turns.
template <class T, int Rhs, int Step, bool Whole>
inline constexpr int lines_under_way = !Whole || per_load<T> * Rhs >= 32       ? 2
                                       : Rhs == 1 && Step > 1 && sizeof(T) < 8 ? 8
                                                                               : 4;

/// A thread's sums over the lines of [line, end) that are Step apart, Unroll of them under way at the same time.
template <class T, class S, int Rhs, int Lanes, int Step, bool Whole, int Unroll = lines_under_way<T, Rhs, Step, Whole>>
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

  __device__ void add(const T* a, const V* x, index_t line, index_t end) {
    a += line * c.leading;
    x += line * c.x_stride;
    int left = line < end ? int((end - line + Step - 1) / Step) : 0;
    const auto take = [&](auto n) {
      add_lines<n.value>(a, x);
      a += n.value * Step * c.leading;
      x += n.value * Step * c.x_stride;
      left -= n.value;
    };
    while (left >= Unroll) take(fixed<Unroll>{});
    if (Unroll > 4 && left >= 4) take(fixed<4>{});
    if constexpr (Unroll > 2)
      if (left >= 2) take(fixed<2>{});
    if (left > 0) take(fixed<1>{});
  }
};

/// y <- alpha A' x + beta y where the lines of memory are added up. The block is G groups of threads: a group takes 16
/// bytes a thread of a line, the other groups the same bytes of the next lines; an element of x is read once a group
/// and line. Reads every byte of A once.
template <class T, class S, int Rhs, int G, bool Whole>
__global__ void __launch_bounds__(gpu_threads, (across_blocks<T, S, Rhs, G>))
    across_kernel(call<T> c, general_plan p, gpu_scratch<S> scratch) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, lanes = gpu_threads / G, width = lanes * each;
  __shared__ S room[G][width];
  const int lane = int(threadIdx.x) % lanes, rank = int(threadIdx.x) / lanes;
  for (gpu_item at = first_item(); at.problem < c.batch; at.problem += gridDim.z) {
    const index_t tile = at.tile * width;
    const int columns = int(c.length - tile < width ? c.length - tile : width);
    column_sums<T, S, Rhs, lanes, G, Whole> mine{c, {lane, columns}};
    const T* const a = c.a_of(at.problem) + tile;
    const V* const x = c.x_of(at.problem);
    if constexpr (sizeof(T) == 2 && Rhs == 1 && G > 1) {
      constexpr int turn = 8 * G; // pieces take turns: neighbouring blocks read neighbouring lines
      for (index_t first = at.piece * turn; first < c.lines; first += p.pieces * turn)
        mine.add(a, x, first + rank, c.lines - first < turn ? c.lines : first + turn);
    } else {
      const index_t first = at.piece * p.terms;
      mine.add(a, x, first + rank, c.lines - first < p.terms ? c.lines : first + p.terms);
    }
    const index_t which = at.problem * p.tiles + at.tile;
    S* const partial = scratch.partial + which * p.pieces * Rhs * width;
#pragma unroll
    for (int r = 0; r < Rhs; ++r) {
      __syncthreads(); // the room is free
#pragma unroll
      for (int j = 0; j < each; ++j) room[rank][mine.part.column(j)] = mine.sum[r][j];
      __syncthreads();
      for (int column = int(threadIdx.x); column < width; column += gpu_threads) {
        S total = room[0][column];
        for (int g = 1; g < G; ++g) total += room[g][column];
        if (p.pieces > 1) partial[(at.piece * Rhs + r) * width + column] = total;
        else if (column < columns && r < c.count) put_output(c, at.problem, r, tile + column, total);
      }
    }
    if (p.pieces == 1 || !last_to_arrive(scratch.arrived + which, p.pieces)) continue;
    constexpr int part = width < gpu_threads ? width : gpu_threads;
    const int count = Rhs == 1 ? 1 : c.count;
    for (int r = 0; r < count; ++r)
      for (int begin = 0; begin < width; begin += part) {
        S* const from = partial + r * width + begin;
        const S total = sum_pieces<(G == 1           ? 6
                                    : sizeof(S) == 8 ? 8
                                                     : 12),
                                   16 / sizeof(S)>(from, int(p.pieces), index_t(Rhs) * width, part, &room[0][0]);
        const int column = begin + int(threadIdx.x);
        if (int(threadIdx.x) < part && column < columns) put_output(c, at.problem, r, tile + column, total);
      }
  }
}

template <class T, class S, int Rhs>
gpu_kernel<T, S, general_plan> kernel_of(general, const call<T>&, const general_plan& p) {
  if (p.outputs == gpu_threads * per_load<T>)
    return {p.whole ? across_kernel<T, S, Rhs, 1, true> : across_kernel<T, S, Rhs, 1, false>};
  return {p.whole ? across_kernel<T, S, Rhs, 8, true> : across_kernel<T, S, Rhs, 8, false>};
}

#endif

} // namespace furrow::dense::across
