// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters.hpp"
#include "core/set_up_part.hpp"
#include "on_gpu.hpp"
#include "preconditioners/diagonal_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow::jacobi_preconditioner {

namespace {

template <class V> std::string about_sign(const host_array<V>& diagonal, index_t i) {
  const bool opposite = std::ranges::all_of(diagonal, [](V d) { return d < 0; });
  return fmt::format("diagonal entry {} is {}: a positive definite matrix has a positive diagonal{}", i + 1,
                     double(diagonal[i]), opposite ? "; all of this one is negative: solve -A x = -b" : "");
}

/// Gives entries that are 0 the size of their row, |A[i,:]| in the largest element; 1 where the row is empty, as any
/// number would do.
template <class V> void fill_zeros(host_array<V>& diagonal, const coo<V>& a) {
  if (std::ranges::all_of(diagonal, [](V d) { return d != 0; })) return;
  host_array<V> size(diagonal.size(), V(0));
  for (index_t k = 0; k < a.nnz(); ++k) size[a.row[k]] = std::max(size[a.row[k]], std::abs(a.val[k]));
  for (index_t i = 0; i < diagonal.size(); ++i)
    if (diagonal[i] == 0) diagonal[i] = size[i] > 0 ? size[i] : V(1);
}

/// A[i,i]. For a solver that needs a definite matrix an entry that is not positive proves that A is none:
/// e_i' A e_i = A[i,i]. For the others an entry that is 0 has no inverse; where only the size of rows counts, theirs
/// stands in.
template <class V> host_array<V> checked_diagonal(const coo<V>& a, bool definite, bool only_sizes) {
  host_array<V> diagonal(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 14, [&](index_t first, index_t last) {
    std::fill(diagonal.data() + first, diagonal.data() + last, V(0));
  });
  cpu::for_each_range(a.nnz(), set_up_part, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (a.row[k] == a.col[k]) diagonal[a.row[k]] = a.val[k];
  });
  if (only_sizes) fill_zeros(diagonal, a);
  for (index_t i = 0; i < diagonal.size(); ++i) {
    if (definite && !(diagonal[i] > 0)) throw refusal{status::not_positive_definite, about_sign(diagonal, i)};
    if (diagonal[i] == 0)
      throw refusal{
          status::breakdown,
          fmt::format("diagonal entry {} is 0, so jacobi cannot divide by it: use the preconditioner none", i + 1)};
    if (!std::isfinite(V(1) / diagonal[i]))
      throw refusal{status::breakdown,
                    fmt::format("diagonal entry {} is so small that its inverse overflows: scale the matrix", i + 1)};
  }
  return diagonal;
}

/// The inverse norms of the columns: the inverse diagonal of A'A is their square. 1 for a column without entries.
template <class V> host_array<V> inverse_column_norms(const coo<V>& a) {
  const auto cols = static_cast<std::size_t>(a.shape.cols);
  std::vector<double> largest(cols, 0.0), squares(cols, 0.0); // over the largest one: no square overflows
  for (index_t k = 0; k < a.nnz(); ++k) largest[a.col[k]] = std::max(largest[a.col[k]], std::abs(double(a.val[k])));
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == 0) continue;
    const double part = double(a.val[k]) / largest[a.col[k]];
    squares[a.col[k]] += part * part;
  }
  host_array<V> inverse(a.shape.cols);
  for (index_t j = 0; j < a.shape.cols; ++j) {
    inverse[j] = largest[j] > 0 ? static_cast<V>(1 / (largest[j] * std::sqrt(squares[j]))) : V(1);
    if (!std::isfinite(inverse[j]) || inverse[j] == 0)
      throw refusal{status::breakdown,
                    fmt::format("the norm of column {} is {:.3g}, whose inverse leaves the range of this precision: "
                                "scale the matrix",
                                j + 1, largest[j] * std::sqrt(squares[j]))};
  }
  return inverse;
}

/// M = D^-1, D the diagonal of A; where M must be definite and A need not, |D|^-1, and 1 / |A[i,:]| where D has a 0.
/// For a solver of least squares D holds the norms of the columns.
template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view, device where, solver_needs needed) {
  if (needed.transposed) return make_diagonal_scaling(inverse_column_norms(a), where);
  auto inverse = checked_diagonal(a, needed.a.definite, needed.m.definite && !needed.a.definite);
  for (V& d : inverse) d = V(1) / (needed.m.definite ? std::abs(d) : d);
  return make_diagonal_scaling(std::move(inverse), where);
}

#if FURROW_HAS_GPU
template <class V>
std::unique_ptr<any_preconditioner<V>> from_rows(const rows_on_gpu<V>& a, const stats&, std::string_view,
                                                 solver_needs needed) {
  if (needed.transposed) return nullptr;
  auto inverse = inverse_on_gpu(a, {.positive = needed.a.definite, .absolute = needed.m.definite});
  return inverse ? std::make_unique<diagonal_scaling<V, gpu_array<V>>>(std::move(*inverse)) : nullptr;
}
#endif

preconditioner_layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("jacobi", parameters);
  const double diagonal = bytes_of(p) * double(s.shape.cols);
  return {diagonal, diagonal};
}

} // namespace

extern const preconditioner_entry entry{.name = "jacobi",
                                        .about = "M = D^-1, the inverse diagonal of A",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .rectangular = true,
                                        .rows_f64 = FURROW_GPU_ONLY(from_rows<double>),
                                        .rows_f32 = FURROW_GPU_ONLY(from_rows<float>)};

} // namespace furrow::jacobi_preconditioner
