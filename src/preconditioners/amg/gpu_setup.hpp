// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_coarsening.hpp"
#include "matrix/rows_on_gpu.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/error.hpp>

#include <vector>

namespace furrow::amg {

/// `smoothed_aggregation` on the current GPU, for nodes of up to 6 unknowns, where A has fewer than 2^31 entries: the
/// levels of the host, up to the rounding of the spectrum's bound. Takes some 50 bytes an entry of A while it works.
/// Waits for sizes, some 30 times a level. The same bits on every run.
#if FURROW_HAS_GPU
template <class T> gpu_array<T> uploaded(cview<T> v) {
  gpu_array<T> there(v.size);
  copy_bytes(gpu_memory{}, there.data(), host_memory{}, v.data, static_cast<std::size_t>(v.size) * sizeof(T));
  return there;
}
inline device_matrix uploaded(row_view<double> a) {
  return {a.shape, uploaded(a.row_ptr), uploaded(a.col), uploaded(a.val)};
}
template <class W> hierarchy<W, gpu_array> smoothed_aggregation_on_gpu(device_matrix a, int block = 1);

/// `nonsymmetric_aggregation` likewise: the levels of the host.
template <class W> hierarchy<W, gpu_array> nonsymmetric_aggregation_on_gpu(device_matrix a);

/// What stays of a level when A gets other values in the same places: the places of P, R, A P and R A P, of which the
/// level has some itself.
struct device_plan {
  kept_prolongation p;
  gpu_array<std::int32_t> from;           ///< of each entry of R: its number in P
  gpu::rows_by_table t_sums, coarse_sums; ///< of T = A P, and of R T
  gpu_array<index_t> t_row_ptr, row_ptr;  ///< of T; of A, where the level does not have them
  gpu_array<std::int32_t> t_col, col;
  double stored_bytes() const {
    return p.stored_bytes() + t_sums.stored_bytes() + coarse_sums.stored_bytes() +
           double(from.byte_count() + t_row_ptr.byte_count() + row_ptr.byte_count() + t_col.byte_count() +
                  col.byte_count());
  }
};
/// The same hierarchy where a node is a row, and a plan for each of its levels. P keeps entries that add up to 0.
template <class W>
hierarchy<W, gpu_array> smoothed_aggregation_on_gpu(device_matrix a, std::vector<device_plan>& plans);

/// The distinct values of column minus row, ascending, in host memory; none where there are more than `most`. One pass
/// over the columns; takes 10 bytes a row; waits.
std::vector<std::int32_t> offsets_on_gpu(index_t rows, cview<index_t> row_ptr, cview<std::int32_t> col, index_t most);

/// A copy in double; values of single precision are widened.
template <class V> device_matrix copied(const rows_on_gpu<V>& a);
template <class V> gpu_array<double> in_double(cview<V> values);
/// As `fits_single` of triplets; nothing where the host is to say what keeps A from having a hierarchy.
template <class V> std::optional<bool> fits_single(const rows_on_gpu<V>& a);
/// As of triplets.
template <class V> bool has_symmetric_levels(const rows_on_gpu<V>& a, solver_needs needed);
/// As `by_diagonals` of the host.
template <class W> dia<W, gpu_array> by_diagonals(const device_matrix& a, double scale);
/// The same of the square of a that has so many entries: its rows may have others behind these, in columns beyond it.
template <class W> dia<W, gpu_array> by_diagonals(const device_view& a, index_t entries, double scale);
/// Other values of a matrix that is kept by diagonals.
template <class W> void fill_diagonals(dia<W, gpu_array>& d, const device_view& a, double scale);
#endif

} // namespace furrow::amg
