// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "core/parameters.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/diagonal_scaling.hpp"
#include "preconditioners/stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::spai0_preconditioner {
namespace {

/// a_ii / sum_j a_ij^2, the entry m_i for which the row m_i A[i, :] is nearest to that of I; scaled, so that no square
/// overflows.
template <class V> double nearest_to_identity(row_view<V> a, index_t i) {
  double size = 0, diagonal = 0, squares = 0;
  for (index_t k = a.begin(i); k < a.end(i); ++k) size = std::max(size, std::abs(double(a.val[k])));
  if (size == 0) return 0;
  for (index_t k = a.begin(i); k < a.end(i); ++k) {
    const double v = double(a.val[k]) / size;
    squares += v * v;
    if (a.col[k] == i) diagonal = v;
  }
  return diagonal / squares / size;
}

/// The diagonal M with the least |M A - I| in Frobenius' norm; of absolute values where M must be definite and A need
/// not. O. Broeker, M. J. Grote, Sparse approximate inverse smoothers for geometric and algebraic multigrid, 2002.
template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view, device where, solver_needs needed) {
  stops_set_up::at_row(0);
  const rows_of_triplets<V> rows(a);
  stops_set_up::at_row(0);
  host_array<V> m(a.shape.rows);
  cpu::for_each_range(m.size(), 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) m[i] = static_cast<V>(nearest_to_identity(rows.view(), i));
  });
  for (index_t i = 0; i < m.size(); ++i) {
    if (needed.a.definite && !(m[i] > 0))
      throw refusal{status::not_positive_definite,
                    fmt::format("diagonal entry {} is not positive: that of a positive definite matrix is", i + 1)};
    if (m[i] == 0 || !std::isfinite(m[i]))
      throw refusal{status::breakdown, fmt::format("diagonal entry {} is 0 beside its row, or the row is out of range: "
                                                   "spai0 has no value for it, use ilu or none",
                                                   i + 1)};
    if (needed.m.definite) m[i] = std::abs(m[i]);
  }
  return make_diagonal_scaling(std::move(m), where);
}

preconditioner_layout lay_out(const stats& s, precision p, std::string_view parameters) {
  no_parameters("spai0", parameters);
  const double diagonal = bytes_of(p) * double(s.shape.rows);
  return {diagonal, diagonal + 8 * (double(s.shape.rows) + 1)};
}

} // namespace

extern const preconditioner_entry entry{"spai0",      "the diagonal M nearest to the inverse, |M A - I| least",
                                        {true, true}, lay_out,
                                        make<double>, make<float>};

} // namespace furrow::spai0_preconditioner
