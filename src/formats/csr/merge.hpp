// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "merge_path.hpp"

#include "backends/gpu/reduce.hpp"

#include <cub/block/block_scan.cuh>

#include <cstdint>

namespace furrow::gpu {

/// The shape of the `merge` kernel.
struct merge_shape {
  static constexpr int threads = 128;
  static constexpr int blocks = 5; ///< that a multiprocessor should have room for
  static constexpr int items = 11; ///< a thread; odd, so that threads walk through different banks
  static constexpr int tile = threads * items;
  static constexpr int fours = (tile + 3 + 4 * threads - 1) / (4 * threads); ///< loads of four entries a thread
};

/// Four neighbouring entries, by loads of 16 bytes that pass the first cache.
template <class V> struct four_entries {
  V val[4];
  std::int32_t col[4];
};
inline __device__ void load_four(four_entries<double>& to, const double* val, const std::int32_t* col) {
  const auto a = __ldcs(reinterpret_cast<const double2*>(val)), b = __ldcs(reinterpret_cast<const double2*>(val) + 1);
  const auto c = __ldcs(reinterpret_cast<const int4*>(col));
  to = {{a.x, a.y, b.x, b.y}, {c.x, c.y, c.z, c.w}};
}
inline __device__ void load_four(four_entries<float>& to, const float* val, const std::int32_t* col) {
  const auto a = __ldcs(reinterpret_cast<const float4*>(val));
  const auto c = __ldcs(reinterpret_cast<const int4*>(col));
  to = {{a.x, a.y, a.z, a.w}, {c.x, c.y, c.z, c.w}};
}

/// product[k] <- val[begin + k] * x[col[begin + k]], 0 <= k < count <= tile. Loads start at multiples of four entries
/// and may read past the last one: device arrays are padded to 64 bytes.
template <class V, class I>
__device__ void stage_products(const csr<V, I, cview>& a, const V* x, index_t begin, int count, V* product) {
  const int offset = static_cast<int>(begin & 3), thread = static_cast<int>(threadIdx.x);
  const V* const val = a.val.data + (begin - offset);
  const std::int32_t* const col = a.col.data + (begin - offset);
  four_entries<V> part[merge_shape::fours];
#pragma unroll
  for (int n = 0; n < merge_shape::fours; ++n) {
    const int at = 4 * (thread + n * merge_shape::threads);
    if (at < count + offset) load_four(part[n], val + at, col + at);
  }
#pragma unroll
  for (int n = 0; n < merge_shape::fours; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = 4 * (thread + n * merge_shape::threads) + i - offset;
      if (k >= 0 && k < count) part[n].val[i] *= x[part[n].col[i]];
    }
#pragma unroll
  for (int n = 0; n < merge_shape::fours; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = 4 * (thread + n * merge_shape::threads) + i - offset;
      if (k >= 0 && k < count) product[k] = part[n].val[i];
    }
}

/// y <- alpha A x + beta y but for the carries, and the dot of the rows that are then finished. A block takes tiles of
/// equally many entries and row ends; a thread walks through equally many of them, and a segmented scan hands on what
/// is left of a row to the threads behind. The tile in which a row ends writes it; the tiles before leave carries.
template <class V, class I, int N>
__global__ void __launch_bounds__(merge_shape::threads, merge_shape::blocks)
    merge_kernel(csr<V, I, cview> a, cview<std::int32_t> cut, V alpha, cview<V> x, V beta, view<V> y, view<V> carry,
                 sum_target<N> xy) {
  using shape = merge_shape;
  using scan = cub::BlockScan<run<V>, shape::threads>;
  __shared__ typename scan::TempStorage room;
  __shared__ V product[shape::tile];
  __shared__ std::uint16_t end[shape::tile];
  const int thread = static_cast<int>(threadIdx.x);
  double dot[1] = {};
  for (index_t t = blockIdx.x; t + 1 < cut.size; t += gridDim.x) {
    const index_t begin = t * shape::tile, left = a.shape.rows + a.val.size - begin, first_row = cut[t];
    const int items = static_cast<int>(left < shape::tile ? left : shape::tile);
    const int rows = static_cast<int>(cut[t + 1] - first_row);
    for (int r = thread; r < rows; r += shape::threads)
      end[r] = static_cast<std::uint16_t>(a.row_ptr[first_row + r + 1] + (first_row + r) - begin);
    stage_products(a, x.data, begin - first_row, items - rows, product);
    const bool open = a.row_ptr[first_row] + first_row < begin; // tiles before have carries for the first row
    __syncthreads();

    const auto finish_row = [&](int r, V sum) {
      const index_t row = first_row + r;
      store(alpha, sum, beta, y[row]);
      if constexpr (N > 0)
        if (r > 0 || !open) dot[0] += double(x[row]) * double(y[row]);
    };
    const int first = thread * shape::items < items ? thread * shape::items : items;
    const int last = first + shape::items < items ? first + shape::items : items;
    const walked<V> mine = walk_items<V>(
        first, last, rows, [&](int r) { return int(end[r]); }, [&](int k) { return product[k]; }, finish_row);
    run<V> before{V(0), false}, whole{};
    scan(room).ExclusiveScan(mine.left_over(), before, run<V>{V(0), false}, add_runs{}, whole);
    if (mine.row >= 0) finish_row(mine.row, before.sum + mine.head);
    if (thread == 0) carry[t] = whole.sum;
    __syncthreads();
  }
  finish<shape::threads, N>(dot, xy);
}

/// Adds the carries to the rows that they belong to, in the order of the tiles, a warp a row; the dot of these rows is
/// added to what merge_kernel left in the slot.
template <class V, class I, int N>
__global__ void __launch_bounds__(merge_shape::threads)
    merge_carry_kernel(csr<V, I, cview> a, cview<std::int32_t> cut, V alpha, cview<V> x, view<V> y, cview<V> carry,
                       sum_target<N> xy) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const index_t warps = index_t(gridDim.x) * (merge_shape::threads / warp);
  double dot[1] = {};
  if constexpr (N > 0)
    if (blockIdx.x == 0 && threadIdx.x == 0) dot[0] = *xy.out[0].at;
  for (index_t t = (index_t(blockIdx.x) * merge_shape::threads + threadIdx.x) / warp; t + 1 < cut.size; t += warps) {
    const carried c = carries_from(t, a.row_ptr, cut, merge_shape::tile);
    if (c.first == c.last) continue;
    V sum{};
    for (index_t k = c.first + lane; k < c.last; k += warp) sum += carry[k];
    sum = sum_lanes<warp>(sum);
    if (lane > 0) continue;
    y[c.row] += alpha * sum;
    if constexpr (N > 0) dot[0] += double(x[c.row]) * double(y[c.row]);
  }
  finish<merge_shape::threads, N>(dot, xy);
}

} // namespace furrow::gpu
