// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "backends/gpu/primitives.hpp"
#include "formats/padded.hpp"
#include "matrix/gpu_diagonals.hpp"
#include "matrix/rows_on_gpu.hpp"

namespace furrow {
namespace gpu_dia {

/// Places of row i, in the rows that pad, too: neighbours write side by side.
template <class V> struct fill_row {
  csr<V, index_t, cview> a;
  cview<std::int32_t> offset;
  index_t stride;
  V* val;
  FURROW_HD void operator()(index_t i) const {
    const bool there = i < a.shape.rows;
    index_t k = there ? a.row_ptr[i] : 0;
    const index_t end = there ? a.row_ptr[i + 1] : 0;
    for (index_t d = 0; d < offset.size; ++d) {
      const bool has = k < end && a.col[k] - i == offset[d];
      val[d * stride + i] = has ? a.val[k] : V(0);
      k += has;
    }
  }
};

} // namespace gpu_dia

/// As `to_dia`, on the current GPU; `diagonals`: their number.
template <class V> dia<V, gpu_array> to_dia(const rows_on_gpu<V>& a, index_t diagonals) {
  const index_t stride = padded_rows(a.shape.rows);
  dia<V, gpu_array> made{a.shape, stride, diagonals_on_gpu(a.view(), diagonals), {}};
  made.val = gpu_array<V>(made.offset.size() * stride);
  gpu::for_each(stride, gpu_dia::fill_row<V>{a.view(), as_cview(made.offset), stride, made.val.data()});
  return made;
}

} // namespace furrow
