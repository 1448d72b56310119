// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <optional>
#include <utility>

namespace furrow::ic0_preconditioner {

/// L L' = S (A + shift I) S at the places of A, S = |diag A|^-1/2: the entries of L beside its diagonal, and the
/// inverse diagonal. Empty where a pivot is below 1e-10, or the numbers overflow. A is symmetric, every |a_ii| > 0. Row
/// by row; serial. J. A. Meijerink, H. A. van der Vorst, 1977.
struct factor {
  row_matrix<double> beside;
  host_array<double> inverse_diagonal;
};
std::optional<factor> factorise(const row_matrix<double>& lower, double shift);

/// The same with the smallest shift of 0, 1e-3, 2e-3, 4e-3, ... that leaves all pivots positive (T. A. Manteuffel,
/// 1980), which comes second; a shift of the number of rows does, since L L' is dominant then. Throws a `refusal` where
/// numbers overflow.
std::pair<factor, double> factorise_shifted(const row_matrix<double>& lower);

/// The entries of S A S beside its diagonal and below it, of a row i the places [row_ptr[i], row_ptr[i + 1]).
template <class V> row_matrix<double> scaled_lower_part(row_view<V> a, cview<double> scale);

} // namespace furrow::ic0_preconditioner
