// SPDX-License-Identifier: BSD-3-Clause
#include "deltas.hpp"

#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/primitives.hpp"
#include "formats/sell/gpu_slicing.hpp"
#include "matrix/gpu_format_look.hpp"

#include <algorithm>

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
  spread_rows slice_of[windows];    ///< that is taken of each of them
  index_t first_slice[windows + 1]; ///< block
  index_t first_row[windows];       ///< of the list of all rows of the windows, in their order
  const std::int32_t* order;        ///< null: as they lie

  FURROW_HD int kind_of(index_t block) const {
    int k = 0;
    while (block >= first_slice[k + 1]) ++k;
    return k;
  }
  __device__ index_t row_of_lane(index_t block, int lane, int& kind) const {
    kind = kind_of(block);
    const spread_rows w = window[kind];
    const index_t each = slice_of[kind].count, n = (block - first_slice[kind]) / each;
    const index_t place = slice_of[kind][(block - first_slice[kind]) % each].first + lane;
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
  const gpu::beside_others turn;
  if (sample.order) gpu::wait_for_previous(); // for who has sorted
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

constexpr int sort_threads = 1024, sort_warps = sort_threads / gpu::warp;
static_assert(sorting_windows.back() == 16 * sort_threads && sorting_windows[1] == sort_threads / 4);

/// Sorts up to 16 * 1024 places by digits of 8 bits, the last ones first: a warp counts the digits of a piece of the
/// places, and then knows where each of them goes.
struct sorted_places {
  static constexpr int most = 16 * sort_threads, digits = 256;
  std::uint16_t from[most], to[most];
  std::uint16_t before[sort_warps][digits]; ///< of a digit in the pieces before, and in its own piece so far
  int first[digits];                        ///< place of a digit
  int of_warp[digits / gpu::warp];

  template <int Items> static __device__ int place(int n) {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / gpu::warp * (Items * gpu::warp) + n * gpu::warp + thread % gpu::warp;
  }
  template <int Items> __device__ void begin() {
#pragma unroll
    for (int n = 0; n < Items; ++n) from[place<Items>(n)] = static_cast<std::uint16_t>(place<Items>(n));
    __syncthreads();
  }
  /// By digit(place), below 256; equal ones stay in their order.
  template <int Items, class Digit> __device__ void sort(Digit digit) {
    const int thread = static_cast<int>(threadIdx.x), warp = thread / gpu::warp, lane = thread % gpu::warp;
    int item[Items], own[Items];
#pragma unroll
    for (int n = 0; n < Items; ++n) item[n] = from[place<Items>(n)];
#pragma unroll
    for (int n = 0; n < Items; ++n) own[n] = digit(item[n]);
    for (int k = lane; k < digits; k += gpu::warp) before[warp][k] = 0;
    __syncwarp();
#pragma unroll
    for (int n = 0; n < Items; ++n) {
      const unsigned like = __match_any_sync(~0u, own[n]);
      if (__ffs(static_cast<int>(like)) == lane + 1) before[warp][own[n]] += static_cast<std::uint16_t>(__popc(like));
      __syncwarp();
    }
    __syncthreads();
    find_first();
#pragma unroll
    for (int n = 0; n < Items; ++n) {
      const unsigned like = __match_any_sync(~0u, own[n]);
      const int at = first[own[n]] + before[warp][own[n]] + __popc(like & ((1u << lane) - 1));
      __syncwarp();
      if (__ffs(static_cast<int>(like)) == lane + 1) before[warp][own[n]] += static_cast<std::uint16_t>(__popc(like));
      to[at] = static_cast<std::uint16_t>(item[n]);
      __syncwarp();
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < Items; ++n) from[place<Items>(n)] = to[place<Items>(n)];
    __syncthreads();
  }

private:
  /// A thread a digit.
  __device__ void find_first() {
    const int digit = static_cast<int>(threadIdx.x), lane = digit % gpu::warp;
    int sum = 0, upto = 0;
    if (digit < digits) {
      for (auto& pieces : before) {
        const int own = pieces[digit];
        pieces[digit] = static_cast<std::uint16_t>(sum);
        sum += own;
      }
      upto = sum;
      for (int d = 1; d < gpu::warp; d *= 2) {
        const int other = gpu::from_lane_below<gpu::warp>(upto, d);
        if (lane >= d) upto += other;
      }
      if (lane == gpu::warp - 1) of_warp[digit / gpu::warp] = upto;
    }
    __syncthreads();
    if (digit < digits) {
      for (int w = 0; w < digit / gpu::warp; ++w) upto += of_warp[w];
      first[digit] = upto - sum;
    }
    __syncthreads();
  }
};

/// The rows of each window, the longest first, equally long ones as they lie: a block takes a window, or four.
struct windows_to_sort {
  sampled_slices sample;
  index_t first_block[windows + 1];
  const index_t* row_ptr;
  index_t longest;
  int length_bits; ///< of longest + 1
  std::int32_t* order;

  template <int Items> __device__ void sort(int kind, index_t block, sorted_places& places) const {
    const spread_rows window = sample.window[kind];
    const int height = static_cast<int>(window.height), together = sort_threads * Items / height;
    const index_t first = block * together;
    const row_range only = window[first];
    const auto rows_of = [&](int place) {
      if (together == 1) return only;
      const index_t n = first + place / height;
      return n < window.count ? window[n] : row_range{0, 0};
    };
    places.begin<Items>();
    for (int from = 0; from < length_bits; from += 8)
      places.sort<Items>([&](int place) {
        const row_range rows = rows_of(place);
        const int at = together == 1 ? place : place % height;
        // Places behind the end of a window stay behind its rows.
        const index_t length = at < rows.count ? row_ptr[rows.first + at + 1] - row_ptr[rows.first + at] : -1;
        return static_cast<int>((longest - length) >> from & 0xff);
      });
    if (together > 1) places.sort<Items>([&](int place) { return place / height; });
    for (int at = static_cast<int>(threadIdx.x); at < sort_threads * Items; at += sort_threads) {
      const int place = places.from[at];
      const row_range rows = rows_of(place);
      if (first + at / height < window.count)
        order[sample.first_row[kind] + first * height + at] =
            static_cast<std::int32_t>(rows.first + (together == 1 ? place : place % height));
    }
  }
};

__global__ void __launch_bounds__(sort_threads) sort_kernel(windows_to_sort all) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& places = *reinterpret_cast<sorted_places*>(memory);
  const gpu::beside_others turn;
  int kind = 1;
  while (blockIdx.x >= all.first_block[kind + 1]) ++kind;
  const index_t block = blockIdx.x - all.first_block[kind];
  if (all.sample.window[kind].height <= sort_threads) all.sort<1>(kind, block, places);
  else if (all.sample.window[kind].height <= 4 * sort_threads) all.sort<4>(kind, block, places);
  else all.sort<16>(kind, block, places);
}

void launch(const pattern& a, const sampled_slices& sample, word* words) {
  if (const index_t slices = sample.first_slice[windows])
    gpu::launch(columns_kernel, static_cast<unsigned>(slices), threads, 0, gpu::current_queue(), a, sample, words);
}

/// Slices of rows as they lie.
template <class V> void begin(const csr<V, index_t, cview>& a, const stats& sizes, const gpu_format_look::memory& at) {
  sampled_slices sample{};
  sample.window[0] = sampled_windows(sizes, 1);
  sample.slice_of[0] = slices_of_window(sizes, sample.window[0]);
  for (int k = 1; k <= windows; ++k) sample.first_slice[k] = sample.window[0].count;
  launch({a.shape, a.row_ptr, a.col, {}}, sample, at.words);
}

/// Rows of all windows that sort, as many as `sampled_windows` has at most; their order.
constexpr index_t most_sorted = 3 * 512 * delta_rows + 2 * sorting_windows.back(), order_words = most_sorted / 2;
static_assert(windows == 5 && 2 * sorting_windows[3] <= 512 * delta_rows);

/// Those of all windows that sort.
void in_windows(const pattern& a, const stats& lengths, const gpu_format_look::memory& at) {
  windows_to_sort all{};
  sampled_slices& sample = all.sample;
  index_t rows = 0, slices = 0, blocks = 0;
  for (int k = 1; k < windows; ++k) {
    const spread_rows w = sampled_windows(lengths, sorting_windows[static_cast<std::size_t>(k)]);
    sample.window[k] = w;
    sample.slice_of[k] = slices_of_window(lengths, w);
    sample.first_row[k] = rows;
    sample.first_slice[k] = slices;
    all.first_block[k] = blocks;
    rows += w.count * w.height;
    slices += w.count * sample.slice_of[k].count;
    blocks += (w.count * w.height + sort_threads - 1) / std::max<index_t>(sort_threads, w.height);
  }
  sample.first_slice[windows] = slices;
  all.first_block[windows] = blocks;
  auto* const order = reinterpret_cast<std::int32_t*>(at.room);
  require(rows <= most_sorted, "a sample of packed has more rows than there is room for");
  all.row_ptr = a.row_ptr.data;
  all.longest = lengths.row_max;
  all.length_bits = bits_for(lengths.row_max + 1);
  all.order = order;
  constexpr int bytes = sizeof(sorted_places);
  gpu::allow_shared_memory(sort_kernel, bytes);
  if (blocks > 0)
    gpu::launch(sort_kernel, static_cast<unsigned>(blocks), sort_threads, bytes, gpu::current_queue(), all);
  sample.order = order;
  launch(a, sample, at.words);
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
                                      gpu_columns::order_words,
                                      gpu_columns::begin<double>,
                                      gpu_columns::begin<float>,
                                      gpu_columns::in_windows,
                                      gpu_columns::numbers};

} // namespace furrow::packed_format
