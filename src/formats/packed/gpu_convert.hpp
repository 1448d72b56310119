// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "packed.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/sell/gpu_slicing.hpp"
#include "matrix/rows_on_gpu.hpp"

#include <limits>
#include <vector>

namespace furrow {
namespace gpu_packed {

constexpr int height = delta_rows, threads = 256, slices_a_block = threads / height;
constexpr std::int32_t no_column = std::numeric_limits<std::int32_t>::max(); ///< beyond all

/// Rows by position, and the dictionary: null where values are stored; `distinct` values.
template <class V> struct source {
  csr<V, index_t, cview> a;
  const std::int32_t* order;
  const V* dictionary;
  int distinct;

  __device__ void row_at(index_t position, index_t& begin, index_t& count) const {
    const bool there = position < a.shape.rows;
    const index_t row = !there ? 0 : order ? order[position] : position;
    begin = there ? a.row_ptr[row] : 0;
    count = there ? a.row_ptr[row + 1] - begin : 0;
  }
  __device__ std::uint32_t number_of(V value) const {
    const auto wanted = bits(value);
    int low = 0, high = distinct;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (bits(dictionary[middle]) < wanted) low = middle + 1;
      else high = middle;
    }
    return static_cast<std::uint32_t>(low);
  }
  static __device__ auto bits(double v) { return static_cast<unsigned long long>(__double_as_longlong(v)); }
  static __device__ auto bits(float v) { return __float_as_uint(v); }
};

/// Bases of a slice, how many bytes its deltas take, and its words a row, to words[s]; a warp a slice, a lane a row.
template <class V>
__global__ void __launch_bounds__(threads) bases_kernel(source<V> from, const index_t* place_ptr, index_t slices,
                                                        packed_slice* slice, std::int32_t* base, index_t* words) {
  gpu::take_turn();
  const int lane = static_cast<int>(threadIdx.x) % height;
  const index_t s = index_t(blockIdx.x) * slices_a_block + threadIdx.x / height;
  if (s >= slices) return; // whole warps
  index_t begin = 0, count = 0;
  from.row_at(s * height + lane, begin, count);
  const index_t slot = place_ptr[s] / height, width = place_ptr[s + 1] / height - slot;
  std::int32_t largest = 0;
  for (index_t k = 0; k < width; ++k) {
    const bool has = k < count;
    const std::int32_t col = has ? from.a.col[begin + k] : 0;
    const std::int32_t least = __reduce_min_sync(~0u, has ? col : no_column);
    if (lane == 0) base[slot + k] = least;
    if (has && col - least > largest) largest = col - least;
  }
  largest = __reduce_max_sync(~0u, largest);
  if (lane != 0) return;
  packed_slice p{slot, 0, static_cast<std::int32_t>(width), delta_bytes_for(largest)};
  slice[s] = p;
  words[s] = p.delta_words() + (from.distinct > 1 ? words_for(width, 1) : 0);
}

/// Words and values of a slice, the first of which is number word_ptr[n]; a lane a row, which owns its words.
template <class V>
__global__ void __launch_bounds__(threads)
    words_kernel(source<V> from, index_t slices, const index_t* word_ptr, packed_slice* slice, const std::int32_t* base,
                 std::uint32_t* word, V* val) {
  gpu::take_turn();
  const int lane = static_cast<int>(threadIdx.x) % height;
  const index_t n = index_t(blockIdx.x) * slices_a_block + threadIdx.x / height;
  if (n >= slices) return;
  packed_slice s = slice[n];
  s.word = word_ptr[n];
  if (lane == 0) slice[n].word = s.word;
  index_t begin = 0, count = 0;
  from.row_at(n * height + lane, begin, count);
  const index_t delta_words = s.delta_words();
  const int each = 4 / s.delta_bytes;
  std::uint32_t* const first = word + s.word * height + lane;
  for (index_t w = 0; w < delta_words; ++w) {
    std::uint32_t packed_word = 0;
    for (int j = 0; j < each; ++j) {
      const index_t k = w * each + j;
      const std::uint32_t delta =
          k < count ? static_cast<std::uint32_t>(from.a.col[begin + k] - base[s.slot + k]) : no_entry(s.delta_bytes);
      packed_word |= delta << (8 * s.delta_bytes * j);
    }
    first[w * height] = packed_word;
  }
  if (!from.dictionary)
    for (index_t k = 0; k < s.width; ++k) val[(s.slot + k) * height + lane] = k < count ? from.a.val[begin + k] : V(0);
  if (from.distinct <= 1) return;
  const index_t number_words = words_for(s.width, 1);
  for (index_t w = 0; w < number_words; ++w) {
    std::uint32_t packed_word = 0;
    for (int j = 0; j < 4; ++j) {
      const index_t k = w * 4 + j;
      if (k < count) packed_word |= from.number_of(from.a.val[begin + k]) << (8 * j);
    }
    first[(delta_words + w) * height] = packed_word;
  }
}

inline unsigned blocks_for_slices(index_t slices) {
  return static_cast<unsigned>((slices + slices_a_block - 1) / slices_a_block);
}

/// Words that slices take at most, a row: deltas of four bytes, and numbers of values.
inline index_t most_words(index_t slots, index_t slices, std::size_t distinct) {
  return slots + (distinct > 1 ? slots / 4 + slices : 0);
}

} // namespace gpu_packed

/// As `to_packed`, on the current GPU: `how` with a window, `dictionary` empty where values are stored. places: of all
/// slices, or -1. Waits in the end, and once more for the number of places where it is not known, and of words where
/// the room for as many as there may be is not small.
template <class V>
packed<V, gpu_array> to_packed(const rows_on_gpu<V>& a, index_t longest, slicing how, const std::vector<V>& dictionary,
                               index_t places = -1) {
  constexpr index_t small = index_t(1) << 20; // words
  packed<V, gpu_array> made;
  made.shape = a.shape;
  made.dictionary = gpu_array<V>(static_cast<index_t>(dictionary.size()));
  copy_bytes(gpu_memory{}, made.dictionary.data(), host_memory{}, dictionary.data(), made.dictionary.byte_count());
  made.row = sorted_rows_on_gpu(a.row_ptr.data(), a.shape.rows, longest, how);
  const std::int32_t* const order = made.row.empty() ? nullptr : made.row.data();
  const auto place_ptr = offsets_of_slices_on_gpu(a.row_ptr.data(), a.shape.rows, order, delta_rows);
  const index_t slices = place_ptr.size() - 1;
  if (places < 0) places = gpu::fetch(place_ptr.data() + slices);
  made.slice = gpu_array<packed_slice>(slices);
  made.base = gpu_array<std::int32_t>(places / delta_rows);
  made.val = gpu_array<V>(dictionary.empty() ? places : 0);
  const gpu_packed::source<V> from{a.view(), order, dictionary.empty() ? nullptr : made.dictionary.data(),
                                   static_cast<int>(dictionary.size())};
  gpu_array<index_t> words(slices + 1);
  const gpu::queue& q = gpu::current_queue();
  if (slices > 0)
    gpu::launch(gpu_packed::bases_kernel<V>, gpu_packed::blocks_for_slices(slices), gpu_packed::threads, 0, q, from,
                place_ptr.data(), slices, made.slice.data(), made.base.data(), words.data());
  gpu::enqueue_offsets(words);
  const auto count_words = [&] { return gpu::fetch(words.data() + slices) * delta_rows; };
  const index_t most = gpu_packed::most_words(made.base.size(), slices, dictionary.size()) * delta_rows;
  made.word = gpu_array<std::uint32_t>(most <= small ? most : count_words());
  if (slices > 0)
    gpu::launch(gpu_packed::words_kernel<V>, gpu_packed::blocks_for_slices(slices), gpu_packed::threads, 0, q, from,
                slices, words.data(), made.slice.data(), made.base.data(), made.word.data(), made.val.data());
  if (most <= small) made.word.resize(count_words());
  else gpu::wait(q);
  return made;
}

} // namespace furrow
