// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::along {

inline constexpr index_t staged_bytes = 32 * 1024; ///< of a tile

#if defined(__CUDACC__)

/// How threads that take a short line each walk through shared memory. Lines of `pitch` units (a unit: what is read at
/// a time, `banks` of which go past each other) begin at the same bank every banks / gcd lines: a line's walk begins so
/// many units later and goes round.
struct line_walk {
  int units = 1; ///< of a line
  int same = 1;  ///< lines after which the banks repeat

  FURROW_HD line_walk(int units, int pitch, int banks) : units(units) {
    int g = 1;
    while (g < banks && pitch % (2 * g) == 0) g *= 2; // banks is a power of two
    same = banks / g;
  }
  FURROW_HD int first(int line) const { return line / same % units; }
  FURROW_HD int after(int unit) const { return unit + 1 == units ? 0 : unit + 1; }
};

inline constexpr int staged_loads = int(staged_bytes) / 16 / gpu_threads; ///< of a thread, for one tile

/// The bytes of one tile that a thread brings: 16 at a time, from the multiple of 16 before the tile's first line on.
template <class T> struct tile_loads {
  bytes16 raw[staged_loads];

  __device__ void read(const T* begin, const T* end, const T* first, const T* last) {
    const T* const from = first - misalignment(first);
#pragma unroll
    for (int u = 0; u < staged_loads; ++u) {
      const T* const at = from + index_t(u * gpu_threads + threadIdx.x) * per_load<T>;
      if (at >= begin && at + per_load<T> <= end) {
        if (at < last) raw[u] = load_once(at);
        continue;
      }
      T single[per_load<T>] = {}; // the first and the last load of the matrix
      for (int j = 0; j < per_load<T>; ++j)
        if (at + j >= begin && at + j < end) single[j] = at[j];
      std::memcpy(&raw[u], single, 16);
    }
  }
  __device__ void write(bytes16* tile) const {
#pragma unroll
    for (int u = 0; u < staged_loads; ++u) tile[u * gpu_threads + threadIdx.x] = raw[u];
  }
};

/// sum[r] = the line at `a` times vector r, `Unit` elements at a time, beginning where `walk` says.
template <int Unit, class T, class S, int Rhs>
__device__ void sum_short_line(const T* a, const vector_value<T>* x, index_t x_pitch, line_walk walk, int line,
                               S* sum) {
  using V = vector_value<T>;
  for (int n = 0, unit = walk.first(line); n < walk.units; ++n, unit = walk.after(unit)) {
    V value[Unit];
    if constexpr (Unit == 1) value[0] = number(a[unit]);
    else {
      const bytes16 raw = *reinterpret_cast<const bytes16*>(a + unit * Unit);
#pragma unroll
      for (int j = 0; j < Unit; ++j) value[j] = element<T>(raw, j);
    }
#pragma unroll
    for (int r = 0; r < Rhs; ++r) {
      V factor[Unit];
      if constexpr (Unit == 1) factor[0] = x[r * x_pitch + unit];
      else load_x<Unit>(x + r * x_pitch + unit * Unit, factor);
#pragma unroll
      for (int j = 0; j < Unit; ++j) sum[r] += S(value[j]) * S(factor[j]);
    }
  }
}

/// y <- alpha A x + beta y for lines of memory of at most 256 bytes. A block brings a tile of lines into shared memory
/// as one stream of bytes, whatever the lines are, then a thread takes a line. The loads of the next tile are under
/// way meanwhile.
template <class T, class S, int Rhs>
__global__ void __launch_bounds__(gpu_threads, (room_for<T, S, Rhs>)) staged_kernel(call<T> c, cut p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int most = int(short_bytes) / int(sizeof(T)), unit = per_load<T>;
  __shared__ bytes16 tile[staged_loads * gpu_threads];
  __shared__ bytes16 x_room[Rhs * most * sizeof(V) / 16];
  V* const x = reinterpret_cast<V*>(x_room);
  const int length = int(c.length);
  const auto tile_of = [&](index_t item, tile_loads<T>& loads) {
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const index_t line = at.tile * p.outputs, lines = c.lines - line < p.outputs ? c.lines - line : p.outputs;
    const T* const first = a + line * c.leading;
    loads.read(a, a + (c.lines - 1) * c.leading + length, first, first + (lines - 1) * c.leading + length);
  };
  tile_loads<T> loads;
  index_t known = -1; // the problem whose x is here
  index_t item = blockIdx.x;
  if (item < p.items(c.batch)) tile_of(item, loads);
  for (; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    loads.write(tile);
    if (at.problem != known) {
      const V* const from = c.x_of(at.problem);
      for (int k = int(threadIdx.x); k < Rhs * most; k += gpu_threads) {
        const int r = k / most < c.count ? k / most : 0;
        x[k] = k % most < length ? from[(k % most) * c.x_stride + r * c.x_next] : V(0);
      }
      known = at.problem;
    }
    __syncthreads();
    if (item + gridDim.x < p.items(c.batch)) tile_of(item + gridDim.x, loads);
    const index_t line = at.tile * p.outputs;
    const int lines = int(c.lines - line < p.outputs ? c.lines - line : p.outputs);
    const int shift = misalignment(c.a_of(at.problem) + line * c.leading);
    const bool whole = shift == 0 && length % unit == 0 && c.leading % unit == 0;
    const T* const here = reinterpret_cast<const T*>(tile) + shift;
    const line_walk by_unit(length / unit, int(c.leading) / unit, 8);
    const line_walk by_one(length, int(c.leading), 128 / int(sizeof(T)));
    for (int i = int(threadIdx.x); i < lines; i += gpu_threads) {
      S sum[Rhs] = {};
      const T* const a = here + i * int(c.leading);
      if (whole) sum_short_line<unit, T, S, Rhs>(a, x, most, by_unit, i, sum);
      else sum_short_line<1, T, S, Rhs>(a, x, most, by_one, i, sum);
#pragma unroll
      for (int r = 0; r < Rhs; ++r)
        if (r < c.count) put_output(c, at.problem, r, line + i, sum[r]);
    }
    __syncthreads(); // before the tile is overwritten
  }
}

#endif

struct staged {
  static constexpr std::string_view name = "staged", about = "short lines through shared memory, a thread a line";
  static constexpr bool one_vector = false;
  static constexpr int order = 50;
  using plan = cut;

  static constexpr std::optional<plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (p.length * p.size > short_bytes || p.leading > p.length + p.length / 4) return {};
    plan c;
    c.terms = p.length;
    tile(c, p.lines, (staged_bytes - 16) / (p.leading * p.size), p.batch);
    c.blocks = std::min(c.blocks, unsigned(g.multiprocessors * resident));
    return c;
  }

#if defined(__CUDACC__)
  template <class T, class S, int Rhs> static gpu_kernel<T, S, plan> kernel(const call<T>&, const plan&) {
    return {staged_kernel<T, S, Rhs>};
  }
#endif
};

} // namespace furrow::dense::along
