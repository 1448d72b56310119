// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_slicing.hpp"
#include "sell.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/rows_on_gpu.hpp"

namespace furrow {
namespace gpu_sell {

/// Places of the row at position p, in columns of the slice: neighbours write side by side.
template <class V> struct fill_position {
  csr<V, index_t, cview> a;
  const std::int32_t* order;
  const index_t* slice_ptr;
  index_t height;
  std::int32_t* col;
  V* val;
  FURROW_HD void operator()(index_t p) const {
    const index_t slice = p / height, end = slice_ptr[slice + 1];
    const bool there = p < a.shape.rows;
    const index_t row = !there ? 0 : order ? order[p] : p;
    index_t k = there ? a.row_ptr[row] : 0;
    const index_t last = there ? a.row_ptr[row + 1] : 0;
    for (index_t place = slice_ptr[slice] + p % height; place < end; place += height, ++k) {
      col[place] = k < last ? a.col[k] : -1;
      val[place] = k < last ? a.val[k] : V(0);
    }
  }
};

} // namespace gpu_sell

/// As `to_sell`, on the current GPU: `how` with a window. places: of all slices, or -1, and then it waits for them.
template <class V>
sell<V, gpu_array> to_sell(const rows_on_gpu<V>& a, index_t longest, slicing how, index_t places = -1) {
  sell<V, gpu_array> made{a.shape, how.height, {}, sorted_rows_on_gpu(a.row_ptr.data(), a.shape.rows, longest, how),
                          {},      {}};
  const std::int32_t* const order = made.row.empty() ? nullptr : made.row.data();
  made.slice_ptr = offsets_of_slices_on_gpu(a.row_ptr.data(), a.shape.rows, order, how.height);
  const index_t slices = made.slice_ptr.size() - 1;
  if (places < 0) places = gpu::fetch(made.slice_ptr.data() + slices);
  made.col = gpu_array<std::int32_t>(places);
  made.val = gpu_array<V>(places);
  gpu::for_each(slices * how.height, gpu_sell::fill_position<V>{a.view(), order, made.slice_ptr.data(), how.height,
                                                                made.col.data(), made.val.data()});
  return made;
}

} // namespace furrow
