// SPDX-License-Identifier: BSD-3-Clause
#include "admission.hpp"

#include "core/symmetry.hpp"
#include "dense.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/value.hpp>

#include <fmt/format.h>

#include <limits>

namespace furrow::amg {

template <class V> bool has_symmetric_levels(const coo<V>& a, solver_needs needed) {
  return needed.a.symmetric || is_symmetric(a);
}

template <class V> bool fits_single(const coo<V>& a, solver_needs needed) {
  host_array<double> diagonal(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 14,
                      [&](index_t first, index_t last) { std::fill_n(diagonal.data() + first, last - first, 0.0); });
  cpu::for_each_range(a.nnz(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (a.row[k] == a.col[k]) diagonal[a.row[k]] = double(a.val[k]);
  });
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (index_t i = 0; i < diagonal.size(); ++i) {
    if (!(diagonal[i] > 0))
      throw refusal{
          needed.a.definite ? status::not_positive_definite : status::breakdown,
          fmt::format("diagonal entry {} is {}: amg needs a matrix whose diagonal is positive", i + 1, diagonal[i])};
    least = std::min(least, diagonal[i]);
    most = std::max(most, diagonal[i]);
  }
  return most / least <= most_span && a.shape.rows > most_dense_rows;
}

template <class V> row_view<double> in_double(const coo<V>& a, cview<index_t> row_ptr, host_array<double>& wide) {
  if constexpr (is_wide<V>) return {a.shape, row_ptr, as_cview(a.col), as_cview(a.val)};
  else {
    wide.resize(a.nnz());
    cpu::for_each_range(a.nnz(), 1 << 15, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) wide[k] = double(a.val[k]);
    });
    return {a.shape, row_ptr, as_cview(a.col), as_cview(wide)};
  }
}

template bool has_symmetric_levels(const coo<double>&, solver_needs);
template bool has_symmetric_levels(const coo<float>&, solver_needs);
template bool fits_single(const coo<double>&, solver_needs);
template bool fits_single(const coo<float>&, solver_needs);
template row_view<double> in_double(const coo<double>&, cview<index_t>, host_array<double>&);
template row_view<double> in_double(const coo<float>&, cview<index_t>, host_array<double>&);

} // namespace furrow::amg
