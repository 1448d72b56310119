// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_locality.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/sample.hpp"

namespace furrow {
namespace gpu_locality {

using word = found_word;
enum place { entries, by_row, by_slice, by_window };
constexpr int window_threads = 1024, slice_threads = 256;
/// Sectors that one pass over a window tells apart, a bit each: those of a million columns in 32 KiB.
constexpr int bits = 1 << 18;

__device__ inline std::int32_t sector_of(std::int32_t col) { return col / locality::elements; }

__device__ inline word sum_over_warp(word v) {
  for (int d = gpu::warp / 2; d > 0; d /= 2) v += gpu::from_lane_across<gpu::warp>(v, d);
  return v;
}

/// A block a window: its entries, the sectors of each of its rows, and those of all together, in one pass for each
/// `bits` sectors between the first and the last one.
__global__ void __launch_bounds__(window_threads)
    windows_kernel(spread_rows windows, const index_t* row_ptr, const std::int32_t* col, word* to) {
  __shared__ unsigned seen[bits / 32];
  __shared__ int least, most;
  const gpu::beside_others turn;
  const row_range rows = windows[blockIdx.x];
  const index_t begin = row_ptr[rows.first], end = row_ptr[rows.first + rows.count];
  if (begin == end) return; // the whole block
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) least = 0x7fffffff, most = 0;
  __syncthreads();
  word of_rows = 0, of_window = 0;
  for (index_t r = rows.first + thread; r < rows.first + rows.count; r += window_threads) {
    const index_t first = row_ptr[r], last = row_ptr[r + 1] - 1;
    if (first > last) continue;
    atomicMin(&least, sector_of(col[first]));
    atomicMax(&most, sector_of(col[last]));
    ++of_rows;
    // Below, its first entry counts where it has another sector than the entry before.
    if (first > begin && sector_of(col[first]) != sector_of(col[first - 1])) --of_rows;
    if (first == begin) --of_rows;
  }
#pragma unroll 4
  for (index_t k = begin + thread; k < end; k += window_threads)
    of_rows += k == begin || sector_of(col[k]) != sector_of(col[k - 1]);
  __syncthreads();
  for (index_t base = least; base <= most; base += bits) {
    for (int k = thread; k < bits / 32 && base + 32 * index_t(k) <= most; k += window_threads) seen[k] = 0;
    __syncthreads();
#pragma unroll 4
    for (index_t k = begin + thread; k < end; k += window_threads) {
      const index_t at = sector_of(col[k]) - base;
      if (at < 0 || at >= bits) continue;
      const unsigned bit = 1u << at % 32;
      if (!(*static_cast<volatile unsigned*>(seen + at / 32) & bit))
        of_window += !(atomicOr(seen + at / 32, bit) & bit);
    }
    __syncthreads();
  }
  of_rows = sum_over_warp(of_rows);
  of_window = sum_over_warp(of_window);
  if (thread == 0) atomicAdd(to + entries, static_cast<word>(end - begin));
  if (thread % gpu::warp != 0) return;
  if (of_rows) atomicAdd(to + by_row, of_rows);
  if (of_window) atomicAdd(to + by_window, of_window);
}

/// A block 32 rows of a window, a lane a row: its warps take the k-th entries of all in turn. What one row alone has
/// are as many sectors.
__global__ void __launch_bounds__(slice_threads)
    slices_kernel(spread_rows windows, const index_t* row_ptr, const std::int32_t* col, word* to) {
  constexpr int slices = locality_counts::window_rows / locality_counts::slice_rows;
  static_assert(locality_counts::slice_rows == gpu::warp);
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  const gpu::beside_others turn;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % gpu::warp;
  const row_range rows = windows[blockIdx.x / slices];
  const index_t place = index_t(blockIdx.x) % slices * gpu::warp + lane;
  const index_t begin = place < rows.count ? row_ptr[rows.first + place] : 0;
  const int count = place < rows.count ? static_cast<int>(row_ptr[rows.first + place + 1] - begin) : 0;
  const int width = __reduce_max_sync(~0u, count);
  const unsigned longest = __ballot_sync(~0u, count == width);
  const int second = __popc(longest) > 1 ? width : __reduce_max_sync(~0u, count == width ? 0 : count);
  int distinct = 0;
#pragma unroll 4
  for (int k = static_cast<int>(threadIdx.x) / gpu::warp; k < second; k += slice_threads / gpu::warp) {
    const bool has = k < count;
    const unsigned same = __match_any_sync(~0u, has ? sector_of(col[begin + k]) : -1);
    distinct += __popc(__ballot_sync(~0u, has && __ffs(static_cast<int>(same)) == lane + 1));
  }
  if (lane == 0 && distinct) atomicAdd(&sum, distinct);
  __syncthreads();
  if (threadIdx.x == 0 && width) atomicAdd(to + by_slice, static_cast<word>(sum) + static_cast<word>(width - second));
}

} // namespace gpu_locality

void look_at_locality(shape2 shape, const index_t* row_ptr, const std::int32_t* col, const stats& sizes,
                      found_word* to) {
  using namespace gpu_locality;
  const spread_rows windows = windows_of_locality(sizes);
  if (shape.rows == 0) return;
  const gpu::queue& q = gpu::current_queue();
  gpu::launch(windows_kernel, static_cast<unsigned>(windows.count), window_threads, 0, q, windows, row_ptr, col, to);
  gpu::launch(slices_kernel, static_cast<unsigned>(windows.count * locality_counts::window_rows / gpu::warp),
              slice_threads, 0, q, windows, row_ptr, col, to);
}

locality_counts locality_found(const found_word* home) {
  using namespace gpu_locality;
  const auto number = [&](place p) { return static_cast<index_t>(home[p]); };
  return {number(entries), number(by_row), number(by_slice), number(by_window)};
}

} // namespace furrow
