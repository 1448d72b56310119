// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <optional>

namespace furrow::amg {

/// Rows of a coarsest level: n^3/3 multiplications to factor, n^2 numbers to keep.
inline constexpr index_t most_dense_rows = 512;

/// The inverse of a symmetric matrix, row by row, in double: A = L D L', L^-1, then L^-T D^-1 L^-1. A pivot that is
/// rounding gives a direction of the null space; the result is then the pseudo-inverse. Empty where a pivot is
/// negative beyond rounding: A is not positive semidefinite. Serial: the same bits everywhere.
std::optional<host_array<double>> dense_inverse(row_view<double> a);

/// The same of a matrix that need not be symmetric, by A = P L U. A pivot that is lost is left out, as if its unknown
/// were 0. Empty where numbers are not finite. Parallel; the same bits everywhere.
std::optional<host_array<double>> general_inverse(row_view<double> a);

} // namespace furrow::amg
