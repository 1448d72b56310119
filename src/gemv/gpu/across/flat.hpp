// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::across {

/// Loads of a turn of a thread; blocks a multiprocessor.
FURROW_HD constexpr int flat_turn(int size, int vectors, int holds) {
  return size == 4 && vectors == 1 && (holds == 1 || holds == 2) ? 16 : 8;
}
FURROW_HD constexpr int flat_blocks(int size, int holds) { return size == 8 && holds >= 0 ? resident : 2; }

struct flat_plan : cut { ///< terms: periods
  int active = 256;      ///< threads at work
  int turn = 0;          ///< lines of a period
  index_t periods = 0;   ///< whole ones in the matrix
  int holds = -1;        ///< lines in a load that begins with one; 0: a load that one may end in; -1: any
};

struct flat {
  static constexpr std::string_view name = "flat", about = "lines of at most 512 bytes, as one stream";
  static constexpr bool one_vector = false;
  static constexpr int order = 20;

  static constexpr std::optional<flat_plan> fits(const gemv_shape& p, index_t multiprocessors) {
    if (p.leading * p.size > flat_bytes) return {};
    const index_t per_load = p.per_load();
    flat_plan c;
    // Threads at work: whole lines and, if most are, whole cache lines.
    const index_t round = p.leading / common_divisor(p.leading, per_load);
    const index_t even = round * 8 / common_divisor(round, 8);
    c.active = int(gpu_threads / round * round);
    if (gpu_threads / even * even * 16 >= 15 * c.active) c.active = int(gpu_threads / even * even);
    c.outputs = p.leading;
    c.turn = int(c.active * per_load / p.leading);
    c.periods = ((p.lines - 1) * p.leading + p.length) / (c.active * per_load);
    if (p.a_aligned && p.x_aligned) {
      if (p.leading % per_load == 0) c.holds = 1;
      else if (per_load % p.leading == 0) c.holds = int(per_load / p.leading);
      else if (p.leading > per_load) c.holds = 0;
    }
    const index_t periods = up(p.lines * p.leading + per_load, c.active * per_load),
                  slots = multiprocessors * flat_blocks(p.size, c.holds);
    // As many turns for every piece.
    const index_t most = p.batch > most_counters ? 1 : std::max<index_t>(1, slots / p.batch);
    const index_t turns = up(periods, flat_turn(p.size, p.vectors, c.holds));
    c.pieces = up(turns, up(turns, most));
    c.terms = up(periods, c.pieces);
    return c;
  }
};

#if defined(__CUDACC__)

/// The sums of one thread over a matrix that is read as one stream of loads. All threads at work move on by `period`
/// elements at a time, `lines` whole lines, so a thread's elements always belong to the same columns.
template <class T, class S, int Rhs> struct stream_sums {
  using V = vector_value<T>;
  static constexpr int each = per_load<T>;

  const call<T>& c;
  const T* a;
  const V* x;
  int period, lines, pitch;
  int first;                                         ///< element of the thread's first load, may be negative
  int begin = (first + each * pitch) / pitch - each; ///< its line, rounded down
  int column = first - begin * pitch;
  S sum[Rhs][each] = {};

  __device__ V factor(index_t line, int r) const { return x[line * c.x_stride + (r < c.count ? r : 0) * c.x_next]; }

  /// What load k of vector r is multiplied by, where a line begins or ends in it.
  template <int Lines> __device__ void load_factors(index_t k, int r, V* to) const {
    const index_t line = begin + k * lines;
    if constexpr (Lines > 0) {
      load_x<Lines>(x + line + (r < c.count ? r : 0) * c.x_next, to);
    } else {
      to[0] = factor(line, r);
      to[1] = factor(line + (column + each > pitch ? 1 : 0), r);
    }
  }

  template <int Lines> __device__ void multiply(const bytes16& raw, index_t k, int r, const V* by) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      V of_line;
      if constexpr (Lines > 0) of_line = by[j * Lines / each];
      else if constexpr (Lines == 0) of_line = column + j < pitch ? by[0] : by[1];
      else of_line = factor(begin + k * lines + (column + j) / pitch, r);
      sum[r][j] += S(element<T>(raw, j)) * S(of_line);
    }
  }

  /// Loads k to k + N - 1. Lines: that a load holds, 1 for a load within a line, 0 for one that a line may end in, -1
  /// for any number.
  template <int Lines, int N> __device__ void add_loads(index_t k) {
    constexpr bool ahead = Rhs == 1 && sizeof(T) < 8 && Lines >= 0 && Lines <= 2; // x is under way with the matrix
    bytes16 raw[N];
    V by[ahead ? N : 1][Lines > 2 ? Lines : 2];
#pragma unroll
    for (int u = 0; u < N; ++u) raw[u] = load_once(a + first + (k + u) * period);
    if constexpr (ahead) {
#pragma unroll
      for (int u = 0; u < N; ++u) load_factors<Lines>(k + u, 0, by[u]);
    }
#pragma unroll
    for (int u = 0; u < N; ++u)
#pragma unroll
      for (int r = 0; r < Rhs; ++r) {
        if constexpr (!ahead && Lines >= 0) load_factors<Lines>(k + u, r, by[0]);
        multiply<Lines>(raw[u], k + u, r, by[ahead ? u : 0]);
      }
  }

  /// The loads of this block's piece in [low, high), which takes turns of Turn of them with the others.
  template <int Lines, int Turn> __device__ void add_turns(index_t low, index_t high) {
    for (index_t k = blockIdx.y * Turn; k < high; k += gridDim.y * Turn)
      if (k >= low && k + Turn <= high) add_loads<Lines, Turn>(k);
      else
        for (index_t one = k < low ? low : k; one < high && one < k + Turn; ++one) add_loads<Lines, 1>(one);
  }

  /// Load k, which may be half outside the matrix.
  __device__ void add_elements(index_t k, index_t elements) {
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const index_t e = first + k * period + j;
      if (e < 0 || e >= elements) continue;
#pragma unroll
      for (int r = 0; r < Rhs; ++r)
        sum[r][j] += S(number(a[e])) * S(factor(begin + k * lines + (column + j) / pitch, r));
    }
  }
};

/// Blocks a multiprocessor that the kernel has registers for; loads of a turn of a thread.
template <class T, class S, int Rhs, int Holds>
inline constexpr int resident_of_flat = sum_registers<T, S, Rhs> >= 32 ? 1
                                        : Rhs > 1 || sizeof(S) > sizeof(vector_value<T>)
                                            ? 2
                                            : flat_blocks(sizeof(T), Holds);
template <class T, class S, int Rhs, int Holds>
inline constexpr int rounds_of_flat = sum_registers<T, S, Rhs> >= 32   ? 2
                                      : sum_registers<T, S, Rhs> >= 16 ? (Holds > 2 || sizeof(T) == 8 ? 2 : 4)
                                                                       : flat_turn(sizeof(T), Rhs, Holds);

/// y <- alpha A' x + beta y where short lines of memory are added up: pitch = leading, at most 512 bytes. Pieces take
/// turns of a few periods. Padding is read too, into sums that nobody asks for. Holds: as in the plan; a kernel for any
/// matrix finds out where loads begin. Reads every byte once.
template <class T, class S, int Rhs, int Holds>
__global__ void __launch_bounds__(gpu_threads, (resident_of_flat<T, S, Rhs, Holds>))
    flat_kernel(call<T> c, flat_plan p, gpu_scratch<S> scratch) {
  constexpr int each = per_load<T>, rounds = rounds_of_flat<T, S, Rhs, Holds>;
  __shared__ S room[gpu_threads * each];
  const int thread = int(threadIdx.x), pitch = int(c.leading), period = p.active * each, lines = p.turn;
  const index_t problem = blockIdx.z, elements = (c.lines - 1) * c.leading + c.length;
  const T* const a = c.a_of(problem);
  const int shift = Holds < 0 ? misalignment(a) : 0;
  stream_sums<T, S, Rhs> mine{c, a, to_global(c.x_of(problem)), period, lines, pitch, thread * each - shift};
  // Loads low to high are whole ones; the one before and the one after may be half outside the matrix.
  const index_t low = Holds < 0 && mine.first < 0 ? 1 : 0;
  const index_t high = p.periods + (mine.first + p.periods * period + each <= elements ? 1 : 0);
  if (thread < p.active) {
    if constexpr (Holds >= 0) mine.template add_turns<Holds, rounds>(low, high);
    else if (pitch >= each) mine.template add_turns<0, rounds>(low, high);
    else mine.template add_turns<-1, 2>(low, high);
    if (low == 1 && blockIdx.y == 0) mine.add_elements(0, elements);
    if (high >= low && blockIdx.y == p.pieces - 1) mine.add_elements(high, elements);
  }
  S* const partial = scratch.partial + problem * p.pieces * Rhs * pitch;
  // Element `thread` of the room belongs to this column.
  const int column = Holds < 0 ? (thread - shift + each * pitch) % pitch : thread;
  const bool puts = thread < pitch && column < c.length;
#pragma unroll
  for (int r = 0; r < Rhs; ++r) {
    __syncthreads(); // the room is free
#pragma unroll
    for (int j = 0; j < each; ++j) room[thread * each + j] = mine.sum[r][j];
    __syncthreads();
    fold_parts(room, lines, pitch);
    if (p.pieces > 1 && thread < pitch) partial[(blockIdx.y * Rhs + r) * pitch + thread] = room[thread];
    else if (puts && r < c.count) put_output(c, problem, r, column, room[thread]);
  }
  if (p.pieces == 1 || !last_to_arrive(scratch, p.pieces)) return;
  for (int r = 0; r < c.count; ++r) {
    const S total = sum_pieces(partial + r * pitch, int(p.pieces), index_t(Rhs) * pitch, pitch, room);
    if (puts) put_output(c, problem, r, column, total);
  }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, flat_plan> kernel_of(flat, const flat_plan& p) {
  // Beside several vectors a line of at most 8 bytes is little: the kernel for any matrix takes those.
  if constexpr (Rhs == 1) {
    if constexpr (per_load<T> >= 8)
      if (p.holds == 8) return {flat_kernel<T, S, 1, 8>};
    if constexpr (per_load<T> >= 4)
      if (p.holds == 4) return {flat_kernel<T, S, 1, 4>};
    if (p.holds == 2) return {flat_kernel<T, S, 1, 2>};
  }
  if (p.holds == 1) return {flat_kernel<T, S, Rhs, 1>};
  return {p.holds == 0 ? flat_kernel<T, S, Rhs, 0> : flat_kernel<T, S, Rhs, -1>};
}

#endif

} // namespace furrow::dense::across
