// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_coarsening.hpp"
#include "matrix/rows_on_gpu.hpp"

#include <furrow/error.hpp>

#include <vector>

namespace furrow::amg {

/// `smoothed_aggregation` on the current GPU, where a node is a row and A has fewer than 2^31 entries: the levels of
/// the host, up to the rounding of the spectrum's bound. Takes some 50 bytes an entry of A while it works. Waits for
/// sizes, some 30 times a level. The same bits on every run.
#if FURROW_HAS_GPU
template <class T> gpu_array<T> uploaded(cview<T> v) {
  gpu_array<T> there(v.size);
  copy_bytes(gpu_memory{}, there.data(), host_memory{}, v.data, static_cast<std::size_t>(v.size) * sizeof(T));
  return there;
}
inline device_matrix uploaded(row_view<double> a) {
  return {a.shape, uploaded(a.row_ptr), uploaded(a.col), uploaded(a.val)};
}
template <class W> hierarchy<W, gpu_array> smoothed_aggregation_on_gpu(device_matrix a);

/// The distinct values of column minus row, ascending, in host memory; none where there are more than `most`. One pass
/// over the columns; takes 10 bytes a row; waits.
std::vector<std::int32_t> offsets_on_gpu(index_t rows, cview<index_t> row_ptr, cview<std::int32_t> col, index_t most);

/// A copy in double; values of single precision are widened.
template <class V> device_matrix copied(const rows_on_gpu<V>& a);
/// The largest by the smallest diagonal entry; nothing where one is not positive.
template <class V> std::optional<double> span_of_diagonal(const rows_on_gpu<V>& a);
#endif

} // namespace furrow::amg
