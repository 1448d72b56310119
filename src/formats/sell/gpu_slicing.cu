// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_slicing.hpp"

#include "backends/gpu/primitives.hpp"

#include <bit>

namespace furrow {
namespace gpu_slicing {

using key = std::uint64_t;

/// Windows in their order, in each of them the longest row first.
struct make_key {
  const index_t* row_ptr;
  index_t window, longest;
  int length_bits;
  key* to;
  std::int32_t* row;
  FURROW_HD void operator()(index_t i) const {
    const index_t length = row_ptr[i + 1] - row_ptr[i];
    to[i] = static_cast<key>(i / window) << length_bits | static_cast<key>(longest - length);
    row[i] = static_cast<std::int32_t>(i);
  }
};

struct places_of_slice {
  const index_t* row_ptr;
  index_t rows;
  const std::int32_t* order;
  index_t height;
  index_t* to;
  FURROW_HD void operator()(index_t s) const {
    index_t width = 0;
    const index_t end = (s + 1) * height < rows ? (s + 1) * height : rows;
    for (index_t p = s * height; p < end; ++p) {
      const index_t row = order ? order[p] : p, length = row_ptr[row + 1] - row_ptr[row];
      if (width < length) width = length;
    }
    to[s] = height * width;
  }
};

} // namespace gpu_slicing

gpu_array<std::int32_t> sorted_rows_on_gpu(const index_t* row_ptr, index_t rows, index_t longest, slicing s) {
  using namespace gpu_slicing;
  if (s.window == 1) return {};
  const int length_bits = bits_for(longest), bits = length_bits + bits_for(rows / s.window);
  gpu_array<key> keys(rows);
  gpu_array<std::int32_t> order(rows);
  gpu::for_each(rows, make_key{row_ptr, s.window, longest, length_bits, keys.data(), order.data()});
  if (rows > 0) gpu::sort_pairs(keys, order, std::max(bits, 1));
  return order;
}

gpu_array<index_t> offsets_of_slices_on_gpu(const index_t* row_ptr, index_t rows, const std::int32_t* order,
                                            index_t height) {
  const index_t slices = (rows + height - 1) / height;
  gpu_array<index_t> slice_ptr(slices + 1);
  gpu::for_each(slices, gpu_slicing::places_of_slice{row_ptr, rows, order, height, slice_ptr.data()});
  gpu::enqueue_offsets(slice_ptr);
  return slice_ptr;
}

} // namespace furrow
