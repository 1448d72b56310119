// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "triplets.hpp"

#include "backends/gpu/reduce.hpp"
#include "backends/runs.hpp"
#include "backends/shared_array.hpp"
#include "backends/warp_of.hpp"

#include <cub/block/block_scan.cuh>

namespace furrow::coo_format {

inline constexpr int threads = 256, items = 8, tile_entries = threads * items;

/// y += alpha A x by segmented reduction (Bell and Garland 2008, section 4.3; Blelloch, Heroux, Zagha 1993). A block
/// takes an equal share of the entries. The row in which a share ends is left to the carries; every other row is
/// finished by the block that holds its last entry, so each element of y has one writer.
template <class V>
__global__ void __launch_bounds__(threads)
    segmented_kernel(triplets<V, cview> a, V alpha, cview<V> x, view<V> y, view<V> carry) {
  using scan = cub::BlockScan<run<V>, threads>;
  __shared__ typename scan::TempStorage room;
  using index = std::remove_cv_t<std::remove_reference_t<decltype(a.row[0])>>;
  FURROW_SHARED(V, product, tile_entries + threads); // one element of padding a thread's run: no bank conflicts
  FURROW_SHARED(index, row, tile_entries + threads);
  const auto padded = [](int k) { return k + k / items; };
  const index_t nnz = a.val.size, begin = index_t(blockIdx.x) * tile_entries;
  const int count = static_cast<int>(nnz - begin < tile_entries ? nnz - begin : tile_entries);
  for (int k = threadIdx.x; k < tile_entries; k += threads) {
    const bool in = k < count;
    product[padded(k)] = in ? __ldcs(&a.val[begin + k]) * x[__ldcs(&a.col[begin + k])] : V(0);
    row[padded(k)] = in ? __ldcs(&a.row[begin + k]) : -1;
  }
  const std::int32_t after = begin + count < nnz ? a.row[begin + count] : -1; // row of the entry behind the tile
  __syncthreads();

  const int first = static_cast<int>(threadIdx.x) * items;
  const auto ends = [&](int k) { return row[padded(k)] != (k + 1 < count ? row[padded(k + 1)] : after); };
  run<V> mine{V(0), false};
  for (int k = first; k < first + items && k < count; ++k) {
    mine.sum += product[padded(k)];
    if (ends(k)) mine = {V(0), true};
  }
  run<V> before{V(0), false}, whole{};
  scan(room).ExclusiveScan(mine, before, run<V>{V(0), false}, add_runs{}, whole);

  V sum = before.sum;
  for (int k = first; k < first + items && k < count; ++k) {
    sum += product[padded(k)];
    if (!ends(k)) continue;
    y[row[padded(k)]] += alpha * sum;
    sum = V(0);
  }
  if (threadIdx.x == 0) carry[blockIdx.x] = whole.sum; // 0 where the tile ends with its last row
}

/// Adds what the tiles left over to the rows that they ended in, in the order of the tiles: a warp a row.
template <class V>
__global__ void __launch_bounds__(threads) carry_kernel(triplets<V, cview> a, V alpha, view<V> y, cview<V> carry) {
  constexpr int warp = gpu::warp_of<V>;
  const index_t tile = (index_t(blockIdx.x) * threads + threadIdx.x) / warp;
  const int lane = threadIdx.x % warp;
  // Tile t left a carry where its last entry and the next tile's first one share a row.
  const auto open_row = [&](index_t t) {
    const index_t end = (t + 1) * tile_entries;
    return t >= 0 && t < carry.size && end < a.val.size && a.row[end - 1] == a.row[end] ? a.row[end] : -1;
  };
  const std::int32_t row = open_row(tile);
  if (row < 0 || open_row(tile - 1) == row) return; // no row is left open here, or an earlier warp adds it up
  V sum{};
  for (index_t t = tile + lane; open_row(t) == row; t += warp) sum += carry[t];
  sum = gpu::sum_lanes<warp>(sum);
  if (lane == 0) y[row] += alpha * sum;
}

} // namespace furrow::coo_format
