// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"
#include "backends/row_tiles.hpp"

namespace furrow::gpu {

/// The shape of the `table` kernel.
struct table_shape {
  static constexpr int threads = 256;
  static constexpr int rows = 4;   ///< that a thread takes at a time, a block apart
  static constexpr int blocks = 4; ///< that a multiprocessor should have room for
  static constexpr int tile = threads * rows;
};

/// Bytes of a table in shared memory.
template <class V, class N, template <class> class Array> int table_bytes(const stencil<V, N, Array>& a) {
  return static_cast<int>(a.val.byte_count() + a.offset.byte_count() + (a.start.size() + 1) * sizeof(std::int32_t));
}

/// Copies the table into shared memory, by all threads of a block, which must meet before they read it. Number
/// stencils(), that of the rows beside the table, gets a stencil without entries.
template <int Threads, class V, class N>
__device__ stencil_table<V> bring_table(unsigned char* memory, const stencil<V, N, cview>& a) {
  const int places = static_cast<int>(a.val.size), starts = static_cast<int>(a.start.size);
  V* const val = reinterpret_cast<V*>(memory);
  auto* const offset = reinterpret_cast<std::int32_t*>(val + places);
  std::int32_t* const start = offset + places;
  for (int k = threadIdx.x; k < places; k += Threads) {
    val[k] = a.val[k];
    offset[k] = a.offset[k];
  }
  for (int k = threadIdx.x; k <= starts; k += Threads) start[k] = k < starts ? a.start[k] : places;
  return {start, offset, val};
}

/// Rows beside the table that a group of lanes has under way at once: offsets, then columns, then elements of x are
/// read, and a group with one row waits for all of them (poisson3d:200 with 1.05 M rows beside: 0.15 ns each on an
/// H100, where their bytes take 0.03).
inline constexpr int beside_at_once = 4;

/// put(row, (A x)[row]) for the rows beside the table, W lanes a row. Blocks [0, blocks) of the grid call.
template <int W, int Threads, class V, class N, class Put>
__device__ void rows_beside(const stencil<V, N, cview>& a, unsigned blocks, cview<V> x, Put put) {
  constexpr int R = beside_at_once;
  const int lane = static_cast<int>(threadIdx.x) % W;
  const index_t groups = index_t(blocks) * (Threads / W), rows = a.rest_row.size;
  for (index_t k = (index_t(blockIdx.x) * Threads + threadIdx.x) / W; k < rows; k += R * groups) {
    index_t entry[R];
    std::int32_t row[R], left[R], col[R]; // left: entries from this lane's first one on
    V sum[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const index_t at = k + r * groups;
      const bool in = at < rows;
      row[r] = in ? a.rest_row[at] : -1;
      entry[r] = in ? a.rest.row_ptr[at] + lane : 0;
      left[r] = in ? static_cast<std::int32_t>(a.rest.row_ptr[at + 1] - entry[r]) : 0;
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      col[r] = left[r] > 0 ? a.rest.col[entry[r]] : 0;
      sum[r] = left[r] > 0 ? a.rest.val[entry[r]] : V(0);
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (left[r] > 0) sum[r] *= x[col[r]];
#pragma unroll
    for (int r = 0; r < R; ++r) {
#pragma unroll 1
      for (int e = W; e < left[r]; e += W) sum[r] += a.rest.val[entry[r] + e] * x[a.rest.col[entry[r] + e]];
      sum[r] = sum_lanes<W>(sum[r]);
      if (lane == 0 && row[r] >= 0) put(index_t(row[r]), sum[r]);
    }
  }
}

/// The same by as many lanes as suit the length of these rows.
template <int Threads, class V, class N, class Put>
__device__ void all_rows_beside(const stencil<V, N, cview>& a, unsigned blocks, cview<V> x, Put put) {
  if (a.rest.val.size >= 24 * a.rest_row.size) rows_beside<warp, Threads>(a, blocks, x, put);
  else rows_beside<8, Threads>(a, blocks, x, put);
}

/// put(r, (A x)[row + r threads]) for the rows of a thread that have the numbers `number`, stencils() where there is
/// none. Where most lanes of the warp have one stencil in their first row, it is added up for all rows of all of them,
/// with uniform reads of the table; rows that have another one come after it, one by one.
template <class V, int R, class Put>
__device__ void multiply_by_table(const stencil_table<V>& t, int stencils, const int (&number)[R], index_t first,
                                  index_t row, cview<V> x, Put put) {
  constexpr int threads = table_shape::threads;
  const int common = from_lane<warp>(number[0], warp / 2);
  V sum[R] = {};
  const bool together = __popc(__ballot_sync(0xffffffffu, number[0] == common)) >= warp / 2 &&
                        stays_inside(t, common, first, index_t(R) * threads, x.size);
  if (together) add_stencil<4>(t, common, x.data + row, threads, sum);
#pragma unroll
  for (int r = 0; r < R; ++r) {
    if (number[r] >= stencils) continue;
    if (!together || number[r] != common) {
      V own[1] = {};
      add_stencil<8>(t, number[r], x.data + row + r * threads, threads, own);
      sum[r] = own[0];
    }
    put(r, sum[r]);
  }
}

/// y <- alpha A x + beta y, and what `ending` asks for. The first `beside` blocks take the rows beside the table, the
/// others tiles of the rows; a block reads the numbers of its next tile while it multiplies one.
template <class V, class N, int K>
__global__ void __launch_bounds__(table_shape::threads, table_shape::blocks)
    table_kernel(stencil<V, N, cview> a, unsigned beside, V alpha, cview<V> x, V beta, view<V> y,
                 row_end<V, K> ending) {
  using shape = table_shape;
  extern __shared__ __align__(16) unsigned char memory[];
  let_next_come();
  double dots[K ? K : 1] = {};
  const auto put = [&](index_t row, V sum) { ending(alpha, sum, beta, y, row, dots); };
  if (blockIdx.x < beside) {
    wait_for_previous();
    all_rows_beside<shape::threads>(a, beside, x, put);
  } else {
    const stencil_table<V> t = bring_table<shape::threads>(memory, a);
    const int stencils = stencils_of(a);
    int next[shape::rows];
    const auto look = [&](index_t row) {
#pragma unroll
      for (int r = 0; r < shape::rows; ++r) {
        const index_t at = row + r * shape::threads;
        next[r] = at < a.shape.rows ? int(read_once(a.number.data + at)) : stencils;
      }
    };
    const index_t step = index_t(gridDim.x - beside) * shape::tile;
    index_t first = index_t(blockIdx.x - beside) * shape::tile;
    look(first + threadIdx.x);
    __syncthreads();
    wait_for_previous();
    for (; first < a.shape.rows; first += step) {
      const index_t row = first + threadIdx.x;
      int number[shape::rows];
#pragma unroll
      for (int r = 0; r < shape::rows; ++r) number[r] = next[r];
      look(row + step);
      multiply_by_table(t, stencils, number, first, row, x, [&](int r, V sum) { put(row + r * shape::threads, sum); });
    }
  }
  finish<shape::threads, K>(dots, ending);
}

} // namespace furrow::gpu
