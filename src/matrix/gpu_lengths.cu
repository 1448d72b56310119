// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_lengths.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/sell/slicing.hpp"

#include <algorithm>

namespace furrow {
namespace gpu_lengths {

using word = found_word;
/// Rows of fewer entries are counted in shared memory; the lengths of the others come back one by one, the first
/// `near` of them with the counts.
constexpr int short_lengths = 1024;
enum place { fingerprint = short_lengths, slice_places, long_rows, near_lengths };
constexpr index_t near = length_words - near_lengths;

__device__ inline word sum_over_warp(word v) {
  for (int d = gpu::warp / 2; d > 0; d /= 2) v += gpu::from_lane_across<gpu::warp>(v, d);
  return v;
}

/// A warp takes slices of 32 rows.
__global__ void __launch_bounds__(gpu::each_threads)
    lengths_kernel(index_t rows, const index_t* row_ptr, const word* wrong, word* to, word* far, marked_bits marked) {
  __shared__ unsigned counted[short_lengths];
  __shared__ word of_block[3];
  for (int l = static_cast<int>(threadIdx.x); l < short_lengths; l += gpu::each_threads) counted[l] = 0;
  if (threadIdx.x < 3) of_block[threadIdx.x] = 0;
  gpu::lead_others();
  __syncthreads();
  if (*wrong) return;
  word print = 0, in_slices = 0, bits = 0;
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  for (index_t k = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; k < marked.words; k += stride)
    bits += static_cast<word>(__popc(marked.bit[k]));
  for (index_t first = index_t(blockIdx.x) * gpu::each_threads; first < rows; first += stride) {
    const index_t i = first + threadIdx.x;
    index_t length = 0;
    if (i < rows) {
      length = row_ptr[i + 1] - row_ptr[i];
      print += fingerprint_of_length(i, length);
      if (length >= short_lengths) {
        const auto at = static_cast<index_t>(atomicAdd(to + long_rows, word(1)));
        (at < near ? to + near_lengths : far)[at] = static_cast<word>(length);
      }
    }
    // Rows of a warp are often as long as its first one, and one of them counts for all.
    const bool is_short = i < rows && length < short_lengths;
    const index_t first_length = gpu::from_lane<gpu::warp>(length, 0);
    const unsigned like_first = __ballot_sync(~0u, is_short && length == first_length);
    if (is_short && !(like_first >> threadIdx.x % gpu::warp & 1)) atomicAdd(counted + length, 1u);
    if (threadIdx.x % gpu::warp == 0 && like_first)
      atomicAdd(counted + length, static_cast<unsigned>(__popc(like_first)));
    for (int d = gpu::warp / 2; d > 0; d /= 2) {
      const index_t other = gpu::from_lane_across<gpu::warp>(length, d);
      length = other > length ? other : length;
    }
    if (threadIdx.x % gpu::warp == 0) in_slices += static_cast<word>(gpu::warp * length);
  }
  print = sum_over_warp(print);
  bits = sum_over_warp(bits);
  if (threadIdx.x % gpu::warp == 0) {
    atomicAdd(of_block, print);
    atomicAdd(of_block + 1, in_slices);
    atomicAdd(of_block + 2, bits);
  }
  __syncthreads();
  if (threadIdx.x < 3 && of_block[threadIdx.x])
    atomicAdd(threadIdx.x == 0   ? to + fingerprint
              : threadIdx.x == 1 ? to + slice_places
                                 : marked.count,
              of_block[threadIdx.x]);
  for (int l = static_cast<int>(threadIdx.x); l < short_lengths; l += gpu::each_threads)
    if (counted[l]) atomicAdd(to + l, word(counted[l]));
}

constexpr int windows = static_cast<int>(window_words);
struct window_list {
  index_t size[windows];
  index_t end[windows]; ///< blocks of those up to this
};

constexpr int window_threads = 512;
constexpr unsigned most_listed = 1024; ///< long rows of a window, of which each is compared with the others

/// A long row that begins a slice adds what it has beyond the short lengths: as many rows before it as slices fill.
/// Equally long ones may change places. A part of the sum, of all `count` long rows of a window.
__device__ inline word beyond_short_lengths(const std::int32_t* length, unsigned count) {
  word mine = 0;
  for (unsigned n = threadIdx.x; n < count; n += window_threads) {
    unsigned longer = 0;
    for (unsigned k = 0; k < count; ++k) longer += length[k] > length[n] || (length[k] == length[n] && k < n);
    if (longer % gpu::warp == 0) mine += static_cast<word>(length[n] - (short_lengths - 1));
  }
  return mine;
}
/// The same, of the rows [first, last), where there is no list: a warp a row.
__device__ inline word beyond_short_lengths(const index_t* row_ptr, index_t first, index_t last) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % gpu::warp;
  word mine = 0;
  for (index_t i = first + thread / gpu::warp; i < last; i += window_threads / gpu::warp) {
    const index_t length = row_ptr[i + 1] - row_ptr[i];
    if (length < short_lengths) continue; // whole warps
    int longer = 0;
    for (index_t j = first + lane; j < last; j += gpu::warp) {
      const index_t other = row_ptr[j + 1] - row_ptr[j];
      longer += other > length || (other == length && j < i);
    }
    longer = __reduce_add_sync(~0u, longer);
    if (lane == 0 && longer % gpu::warp == 0) mine += static_cast<word>(length - (short_lengths - 1));
  }
  return mine;
}

/// A block a window. Where n(l) rows have l entries and more, the slices of sorted rows are as wide, together, as the
/// sum of ceil(n(l) / 32) over all l.
__global__ void __launch_bounds__(window_threads)
    windows_kernel(index_t rows, const index_t* row_ptr, window_list list, word* to) {
  constexpr int height = gpu::warp, each = short_lengths / window_threads;
  __shared__ unsigned counted[short_lengths];
  __shared__ unsigned of_warp[window_threads / gpu::warp];
  __shared__ unsigned many; // rows of `short_lengths` entries and more
  __shared__ std::int32_t long_one[most_listed];
  __shared__ word width;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % gpu::warp;
  for (int l = thread; l < short_lengths; l += window_threads) counted[l] = 0;
  if (thread == 0) many = 0, width = 0;
  const gpu::beside_others turn;
  int kind = 0;
  while (blockIdx.x >= list.end[kind]) ++kind;
  const index_t size = list.size[kind], first = (blockIdx.x - (kind ? list.end[kind - 1] : 0)) * size;
  const index_t last = first + size < rows ? first + size : rows;
  __syncthreads();
  for (index_t i = first + thread; i < last; i += window_threads) {
    const index_t length = row_ptr[i + 1] - row_ptr[i];
    if (length < short_lengths) {
      atomicAdd(counted + length, 1u);
      continue;
    }
    const unsigned at = atomicAdd(&many, 1u);
    if (at < most_listed) long_one[at] = static_cast<std::int32_t>(length);
  }
  __syncthreads();
  // Rows of l entries and more: sums from the end. A thread has the lengths [begin, begin + each).
  const int begin = each * (window_threads - 1 - thread);
  unsigned sum = 0;
  for (int l = begin; l < begin + each; ++l) sum += counted[l];
  unsigned before = sum; // of this warp, this thread included
  for (int d = 1; d < gpu::warp; d *= 2) {
    const unsigned other = gpu::from_lane_below<gpu::warp>(before, d);
    if (lane >= d) before += other;
  }
  if (lane == gpu::warp - 1) of_warp[thread / gpu::warp] = before;
  __syncthreads();
  unsigned reaching = many + before - sum;
  for (int w = 0; w < thread / gpu::warp; ++w) reaching += of_warp[w];
  word mine = 0;
  for (int l = begin + each - 1; l >= begin; --l) {
    reaching += counted[l];
    if (l > 0) mine += (reaching + height - 1) / height;
  }
  if (many > most_listed) mine += beyond_short_lengths(row_ptr, first, last);
  else if (many) mine += beyond_short_lengths(long_one, many);
  mine = sum_over_warp(mine);
  if (lane == 0 && mine) atomicAdd(&width, mine);
  __syncthreads();
  if (thread == 0 && width) atomicAdd(to + kind, width * height);
}

} // namespace gpu_lengths

index_t far_length_words(index_t nnz) {
  using namespace gpu_lengths;
  return nnz / short_lengths + 1;
}

void enqueue_lengths(index_t rows, const index_t* row_ptr, const found_word* wrong, found_word* to, found_word* far,
                     const marked_bits& marked) {
  using namespace gpu_lengths;
  static_assert(usual_height == gpu::warp);
  const gpu::queue& q = gpu::current_queue();
  gpu::launch(lengths_kernel, gpu::blocks_for(rows, gpu::each_threads, q, 8), gpu::each_threads, 0, q, rows, row_ptr,
              wrong, to, far, marked);
}

found_lengths lengths_found(const found_word* home, const found_word* far) {
  using namespace gpu_lengths;
  found_lengths all{{}, home[fingerprint], static_cast<index_t>(home[slice_places])};
  std::vector<length_count>& found = all.occurring;
  for (index_t l = 0; l < short_lengths; ++l)
    if (home[l]) found.push_back({l, static_cast<index_t>(home[l])});
  const auto long_ones = static_cast<index_t>(home[long_rows]);
  std::vector<word> others(home + near_lengths, home + near_lengths + std::min(long_ones, near));
  if (long_ones > near) {
    others.resize(static_cast<std::size_t>(long_ones));
    copy_bytes(host_memory{}, others.data() + near, gpu_memory{}, far + near,
               static_cast<std::size_t>(long_ones - near) * sizeof(word));
  }
  std::ranges::sort(others);
  for (const word l : others)
    if (const auto length = static_cast<index_t>(l); found.empty() || found.back().length < length)
      found.push_back({length, 1});
    else ++found.back().count;
  return all;
}

void describe(const found_lengths& found, stats& s) {
  describe_lengths(found.occurring, s);
  s.lengths_fingerprint = found.fingerprint;
  s.slice_places.fill(-1);
  s.slice_places[0] = found.slice_places;
  if (hardly_padded(s.slice_places[0], s.nnz)) return;
  std::fill(s.slice_places.begin() + 1, s.slice_places.end(), 0);
}

void enqueue_windows(index_t rows, const index_t* row_ptr, found_word* to) {
  using namespace gpu_lengths;
  window_list list{};
  index_t blocks = 0;
  for (int k = 0; k < windows; ++k) {
    list.size[k] = sorting_windows[static_cast<std::size_t>(k) + 1];
    blocks += (rows + list.size[k] - 1) / list.size[k];
    list.end[k] = blocks;
  }
  if (blocks > 0)
    gpu::launch(windows_kernel, static_cast<unsigned>(blocks), window_threads, 0, gpu::current_queue(), rows, row_ptr,
                list, to);
}

} // namespace furrow
