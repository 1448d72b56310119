// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/padded.hpp"
#include "matrix/rows_on_gpu.hpp"

namespace furrow {
namespace gpu_ell {

/// Places of row i, in the rows that pad, too: neighbours write side by side.
template <class V> struct fill_row {
  csr<V, index_t, cview> a;
  index_t width, stride;
  std::int32_t* col;
  V* val;
  FURROW_HD void operator()(index_t i) const {
    const bool there = i < a.shape.rows;
    index_t k = there ? a.row_ptr[i] : 0;
    const index_t end = there ? a.row_ptr[i + 1] : 0;
    for (index_t at = i; at < width * stride; at += stride, ++k) {
      col[at] = k < end ? a.col[k] : -1;
      val[at] = k < end ? a.val[k] : V(0);
    }
  }
};

} // namespace gpu_ell

/// As `to_ell`, on the current GPU: the first `width` entries of each row.
template <class V> ell<V, gpu_array> to_ell(const rows_on_gpu<V>& a, index_t width) {
  const index_t stride = padded_rows(a.shape.rows);
  ell<V, gpu_array> made{a.shape, width, stride, gpu_array<std::int32_t>(width * stride), gpu_array<V>(width * stride)};
  gpu::for_each(stride, gpu_ell::fill_row<V>{a.view(), width, stride, made.col.data(), made.val.data()});
  return made;
}

} // namespace furrow
