// SPDX-License-Identifier: BSD-3-Clause
#include "deltas.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/sell/gpu_slicing.hpp"
#include "matrix/gpu_format_look.hpp"

namespace furrow::packed_format {
namespace gpu_columns {

using word = found_word;
constexpr int threads = 256, warps = threads / gpu::warp;
static_assert(delta_rows == gpu::warp);
constexpr int windows = static_cast<int>(sorting_windows.size());
using pattern = csr<std::int8_t, index_t, cview>; ///< values are not looked at

/// What a block looks at: a slice of a window, in which rows are sorted where there is an order.
struct sampled_slices {
  spread_rows window[windows];
  index_t first_slice[windows + 1]; ///< block
  index_t first_row[windows];       ///< of the list of all rows of the windows, in their order
  const std::int32_t* order;        ///< null: as they lie

  FURROW_HD int kind_of(index_t slice) const {
    int k = 0;
    while (slice >= first_slice[k + 1]) ++k;
    return k;
  }
  __device__ index_t row_of_lane(index_t slice, int lane, int& kind) const {
    kind = kind_of(slice);
    const spread_rows w = window[kind];
    const index_t each = w.height / delta_rows, n = (slice - first_slice[kind]) / each;
    const index_t place = (slice - first_slice[kind]) % each * delta_rows + lane;
    const row_range rows = w[n];
    if (place >= rows.count) return -1;
    return order ? order[first_row[kind] + n * w.height + place] : rows.first + place;
  }
};

/// A block a slice; its warps take the slots in turn. Slots that one row alone reaches have a delta of 0.
__global__ void __launch_bounds__(threads) columns_kernel(pattern a, sampled_slices sample, word* to) {
  constexpr int lane_bits = gpu::warp - 1, beyond_all = 0x7fffffff;
  __shared__ int largest;
  if (threadIdx.x == 0) largest = 0;
  gpu::take_turn();
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) & lane_bits;
  int kind = 0;
  const index_t row = sample.row_of_lane(blockIdx.x, lane, kind);
  const index_t begin = row < 0 ? 0 : a.row_ptr[row];
  const int count = row < 0 ? 0 : static_cast<int>(a.row_ptr[row + 1] - begin);
  const int width = __reduce_max_sync(~0u, count);
  const unsigned longest = __ballot_sync(~0u, count == width);
  const int second = __popc(longest) > 1 ? width : __reduce_max_sync(~0u, count == width ? 0 : count);
  int widest = 0;
#pragma unroll 4
  for (int k = static_cast<int>(threadIdx.x) / gpu::warp; k < second; k += warps) {
    const bool has = k < count;
    const std::int32_t col = has ? a.col[begin + k] : 0;
    const int least = __reduce_min_sync(~0u, has ? col : beyond_all);
    const int most = __reduce_max_sync(~0u, has ? col : -1);
    widest = most - least > widest ? most - least : widest;
  }
  if (lane == 0 && widest > 0) atomicMax(&largest, widest);
  __syncthreads();
  if (threadIdx.x != 0 || width == 0) return;
  atomicAdd(to + 2 * kind, static_cast<word>(bytes_of_slice(width, largest)));
  atomicAdd(to + 2 * kind + 1, static_cast<word>(delta_rows) * static_cast<word>(width));
}

/// Windows in their order, in each of them the longest row first.
struct make_keys {
  sampled_slices sample;
  index_t first_window[windows];
  const index_t* row_ptr;
  index_t longest;
  int length_bits;
  std::uint64_t* key;
  std::int32_t* order;
  FURROW_HD void operator()(index_t p) const {
    int kind = windows - 1;
    while (kind > 0 && p < sample.first_row[kind]) --kind;
    const spread_rows w = sample.window[kind];
    const index_t n = (p - sample.first_row[kind]) / w.height, place = (p - sample.first_row[kind]) % w.height;
    const row_range rows = w[n];
    const index_t row = rows.first + place;
    // Places behind the end of a window stay behind its rows.
    const index_t length = place < rows.count ? row_ptr[row + 1] - row_ptr[row] : -1;
    key[p] = static_cast<std::uint64_t>(first_window[kind] + n) << length_bits |
             static_cast<std::uint64_t>(longest - length);
    order[p] = static_cast<std::int32_t>(row);
  }
};

void launch(const pattern& a, const sampled_slices& sample, word* words) {
  if (const index_t slices = sample.first_slice[windows])
    gpu::launch(columns_kernel, static_cast<unsigned>(slices), threads, 0, gpu::current_queue(), a, sample, words);
}

/// Slices of rows as they lie.
template <class V> void begin(const csr<V, index_t, cview>& a, const stats& sizes, const gpu_format_look::memory& at) {
  sampled_slices sample{};
  sample.window[0] = sampled_windows(sizes, 1);
  for (int k = 1; k <= windows; ++k) sample.first_slice[k] = sample.window[0].count;
  launch({a.shape, a.row_ptr, a.col, {}}, sample, at.words);
}

/// Those of all windows that sort: one sort and one kernel.
void in_windows(const pattern& a, const stats& lengths, word* words) {
  sampled_slices sample{};
  make_keys keys{};
  index_t rows = 0, slices = 0, count = 0;
  for (int k = 1; k < windows; ++k) {
    const spread_rows w = sampled_windows(lengths, sorting_windows[static_cast<std::size_t>(k)]);
    sample.window[k] = w;
    sample.first_row[k] = rows;
    sample.first_slice[k] = slices;
    keys.first_window[k] = count;
    rows += w.count * w.height;
    slices += w.count * w.height / delta_rows;
    count += w.count;
  }
  sample.first_slice[windows] = slices;
  gpu_array<std::uint64_t> key(rows);
  gpu_array<std::int32_t> order(rows);
  keys.sample = sample;
  keys.row_ptr = a.row_ptr.data;
  keys.longest = lengths.row_max;
  keys.length_bits = bits_for(lengths.row_max + 1);
  keys.key = key.data();
  keys.order = order.data();
  gpu::for_each(rows, keys);
  if (rows > 0) gpu::sort_pairs(key, order, keys.length_bits + bits_for(count));
  sample.order = order.data();
  launch(a, sample, words);
}

estimate_numbers numbers(const stats& s, const word* home, const word*) {
  estimate_numbers bytes{};
  const auto found = [&](std::size_t k) {
    return column_bytes{static_cast<index_t>(home[2 * k]), static_cast<index_t>(home[2 * k + 1])}.a_place();
  };
  for (std::size_t k = 0; k < sorting_windows.size(); ++k) bytes[k] = found(s.slice_places[k] < 0 ? 0 : k);
  return bytes;
}

} // namespace gpu_columns

extern const gpu_format_look gpu_look{"packed",
                                      2 * gpu_columns::windows,
                                      0,
                                      0,
                                      gpu_columns::begin<double>,
                                      gpu_columns::begin<float>,
                                      gpu_columns::in_windows,
                                      gpu_columns::numbers};

} // namespace furrow::packed_format
