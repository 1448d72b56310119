// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "march.hpp"
#include "table_kernel.hpp"

#include "backends/gpu/bulk_copy.hpp"

#include <cstdint>

namespace furrow::gpu {

/// The shape of the `march` kernel.
struct march_shape {
  static constexpr int threads = 512;
  static constexpr int rows = 4;   ///< that a thread takes of a plane, a block apart
  static constexpr int blocks = 2; ///< that a multiprocessor should have room for
  static constexpr int tile = threads * rows;
  /// Entries of which the x of all these rows is under way at once: shared memory answers soon, and registers are few.
  static constexpr int entries = 2;
  static constexpr int fewest = 4, most = 6; ///< windows in shared memory: three in use, the others on their way
  static constexpr int barriers = 64;        ///< bytes of their barriers
};

/// Elements of x in a unit of the copy engine.
template <class V> constexpr int copy_unit = 16 / int(sizeof(V));

/// What the kernel is told of its plan.
struct march_view {
  cview<std::int32_t> part, away;
  index_t period;
  march_cut cut;
  int halo, depth, stride; ///< stride: elements from one window to the next
};

/// Elements from one window to the next: the rows that the threads of a block take, with a halo on both sides, and what
/// a start on 16 bytes adds.
template <class V> constexpr int window_stride(index_t halo) {
  constexpr int unit = copy_unit<V>;
  return (march_shape::tile + 2 * static_cast<int>(halo) + 3 * unit - 1) / unit * unit;
}

/// Bytes of shared memory.
template <class V> int march_bytes(int depth, int stride, index_t places, index_t parts) {
  return march_shape::barriers + static_cast<int>(sizeof(V)) * depth * stride +
         static_cast<int>(sizeof(V) + sizeof(std::int32_t)) * static_cast<int>(places) +
         static_cast<int>(sizeof(std::int32_t)) * static_cast<int>(parts);
}

/// Windows of x in a ring of shared memory, which come in the order in which they are asked for.
template <class V> class window_ring {
public:
  /// `here` holds `depth` open barriers, `ring` as many windows.
  __device__ window_ring(arrival* here, V* ring, const march_view& m, cview<V> x)
      : here_(here), ring_(ring), m_(m), x_(x),
        beyond_(static_cast<int>(reinterpret_cast<std::uintptr_t>(x.data) / sizeof(V) % copy_unit<V>)) {}

  /// From here on the windows are those of `width` rows from `row` on of each plane.
  __device__ void take_part(index_t row, int width) {
    first_ = row - m_.halo;
    wanted_ = width + 2 * m_.halo;
  }

  /// By one thread: the window of a plane is to come into the next free place.
  __device__ void bring(index_t plane) {
    const index_t begin = begin_of(plane), end = round_up(first_ + plane * m_.period + wanted_ + beyond_) - beyond_;
    // Units that hold an element of x: what else is in them is memory of the same allocation.
    const index_t from = begin > -beyond_ ? begin : -beyond_;
    const index_t all = round_up(x_.size + beyond_) - beyond_, to = end < all ? end : all;
    const unsigned bytes = to > from ? static_cast<unsigned>((to - from) * index_t(sizeof(V))) : 0;
    expect(here_[free_], bytes);
    if (bytes) bulk_copy(ring_ + free_ * m_.stride + (from - begin), x_.data + from, bytes, here_[free_]);
    if (++free_ == m_.depth) free_ = 0;
  }

  /// By all threads: waits for the next window, that of `plane`. Points to the element of the part's first row.
  __device__ const V* next(index_t plane) {
    V* const window = ring_ + next_ * m_.stride;
    const index_t begin = begin_of(plane);
    if (FURROW_BULK_COPY) {
      wait(here_[next_], parity_);
    } else {
      for (index_t k = threadIdx.x; k < m_.stride; k += march_shape::threads)
        if (begin + k >= 0 && begin + k < x_.size) window[k] = x_[begin + k];
      __syncthreads();
    }
    if (++next_ == m_.depth) {
      next_ = 0;
      parity_ ^= 1;
    }
    return window + (first_ + plane * m_.period - begin) + m_.halo;
  }

private:
  static __device__ index_t round_up(index_t n) { return (n + copy_unit<V> - 1) & ~index_t(copy_unit<V> - 1); }
  /// The element that a window begins with: it lies on 16 bytes.
  __device__ index_t begin_of(index_t plane) const {
    const index_t wanted = first_ + plane * m_.period;
    return wanted - ((wanted + beyond_) & (copy_unit<V> - 1));
  }

  arrival* here_;
  V* ring_;
  const march_view& m_;
  cview<V> x_;
  int beyond_; ///< elements by which x begins behind 16 bytes
  index_t first_ = 0;
  int wanted_ = 0; ///< elements of a window that the part needs
  int free_ = 0, next_ = 0;
  unsigned parity_ = 0;
};

/// sum[r] += what stencil `number` makes of rows whose elements of three planes are pointed to: R rows a block apart.
template <int B, int R, class V>
__device__ void add_planes(const stencil_table<V>& t, int number, const V* const (&x)[3], index_t offset, V (&sum)[R]) {
#pragma unroll
  for (int j = 0; j < 3; ++j) add_stencil<B>(t, 3 * number + j, x[j] + offset, march_shape::threads, sum);
}

/// y <- alpha A x + beta y, and x . y in the same pass where `xy` has a slot. The first `beside` blocks take the rows
/// beside the table. The others march: a block takes the same part of one plane after the other, and the copy engine
/// brings the x of the planes ahead while it multiplies. Where most lanes of a warp have one stencil in their first
/// row, it is added up for all rows of all of them with uniform reads of the table; rows that have another one come
/// after it. x comes from the second cache once, but for halos and the first two planes of a block.
template <class V, class N, int K>
__global__ void __launch_bounds__(march_shape::threads, march_shape::blocks)
    march_kernel(stencil<V, N, cview> a, march_view m, unsigned beside, V alpha, cview<V> x, V beta, view<V> y,
                 sum_target<K> xy) {
  using shape = march_shape;
  extern __shared__ __align__(16) unsigned char memory[];
  let_next_come();
  double dot[1] = {};
  if (blockIdx.x < beside) {
    wait_for_previous();
    all_rows_beside<shape::threads>(a, beside, x, [&](index_t row, V sum) {
      store(alpha, sum, beta, y[row]);
      if constexpr (K > 0) dot[0] += double(x[row]) * double(y[row]);
    });
    return finish<shape::threads, K>(dot, xy);
  }

  auto* const here = reinterpret_cast<arrival*>(memory);
  V* const windows = reinterpret_cast<V*>(memory + shape::barriers);
  V* const val = windows + m.depth * m.stride;
  auto* const away = reinterpret_cast<std::int32_t*>(val + a.val.size);
  std::int32_t* const part = away + a.val.size;
  for (int k = threadIdx.x; k < a.val.size; k += shape::threads) {
    val[k] = a.val[k];
    away[k] = m.away[k];
  }
  for (int k = threadIdx.x; k < m.part.size; k += shape::threads) part[k] = m.part[k];
  const stencil_table<V> t{part, away, val};
  const int stencils = stencils_of(a), thread = static_cast<int>(threadIdx.x);
  if (thread == 0)
    for (int k = 0; k < m.depth; ++k) open(here[k]);
  __syncthreads();
  wait_for_previous();

  window_ring<V> ring(here, windows, m, x);
  const unsigned blocks = gridDim.x - beside;
  for (index_t unit = blockIdx.x - beside; unit < m.cut.units(); unit += blocks) {
    const index_t row_in_plane = unit % m.cut.parts * m.cut.rows;
    const int z0 = static_cast<int>(unit / m.cut.parts * m.cut.chunk), last = static_cast<int>(m.cut.planes);
    const int z1 = z0 + static_cast<int>(m.cut.chunk) < last ? z0 + static_cast<int>(m.cut.chunk) : last;
    const index_t left = m.period - row_in_plane;
    const int width = static_cast<int>(left < m.cut.rows ? left : m.cut.rows);
    ring.take_part(row_in_plane, width);
    if (FURROW_BULK_COPY && thread == 0)
      for (int z = z0 - 1; z <= z1 && z < z0 - 1 + m.depth; ++z) ring.bring(z);
    int next[shape::rows];
    const auto look = [&](int z) { // whose numbers are waited for in the next plane
#pragma unroll
      for (int r = 0; r < shape::rows; ++r) {
        const int place = thread + r * shape::threads;
        const index_t row = z * m.period + row_in_plane + place;
        next[r] = stencils;
        if (place < width && z < z1 && row < a.shape.rows) next[r] = read_once(a.number.data + row);
      }
    };
    look(z0);
    const V* at[3];
    at[1] = ring.next(z0 - 1);
    at[2] = ring.next(z0);
    for (int z = z0; z < z1; ++z) {
      at[0] = at[1];
      at[1] = at[2];
      at[2] = ring.next(z + 1);
      std::uint64_t numbers = 0; // 16 bits each, so that a loop over rows need not be unrolled
#pragma unroll
      for (int r = 0; r < shape::rows; ++r) numbers |= std::uint64_t(next[r]) << (16 * r);
      look(z + 1);
      const auto number = [&](int r) { return static_cast<int>(numbers >> (16 * r) & 0xffff); };
      const auto put = [&](int place, V sum) {
        V& to = y[z * m.period + row_in_plane + place];
        store(alpha, sum, beta, to);
        if constexpr (K > 0) dot[0] += double(at[1][place]) * double(to);
      };
      const int common = from_lane<warp>(number(0), warp / 2);
      const bool together = common < stencils && !is_far(part, common) &&
                            __popc(__ballot_sync(0xffffffffu, number(0) == common)) >= warp / 2;
      if (together) {
        V sum[shape::rows] = {};
        add_planes<shape::entries>(t, common, at, thread, sum);
#pragma unroll
        for (int r = 0; r < shape::rows; ++r)
          if (number(r) == common) put(thread + r * shape::threads, sum[r]);
      }
#pragma unroll 1
      for (int r = 0; r < shape::rows; ++r) {
        if (number(r) >= stencils || (together && number(r) == common)) continue;
        const int place = thread + r * shape::threads;
        V own[1] = {};
        if (is_far(part, number(r))) own[0] = partial(lanes{}, a, z * m.period + row_in_plane + place, x);
        else add_planes<shape::entries>(t, number(r), at, place, own);
        put(place, own[0]);
      }
      __syncthreads();
      if (FURROW_BULK_COPY && thread == 0 && z - 1 + m.depth <= z1) ring.bring(z - 1 + m.depth);
    }
  }
  finish<shape::threads, K>(dot, xy);
}

} // namespace furrow::gpu
