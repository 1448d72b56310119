// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"
#include "factor_size.hpp"

#include "matrix/symbolic.hpp"

namespace furrow::lu {

/// How large the sparse factors of A become with its columns in that order (column j stands at place[j]), from the
/// pattern alone, before any is made.
///
/// A symmetric pattern whose pivots stay on the diagonal: exact, twice the Cholesky factor of A + A' less the diagonal;
/// pivots that move change it. Other ones: a bound for any choice of pivots, of U by the Cholesky factor of A'A, and of
/// L by the rows that may still hold a pivot, which the columns of a subtree of its elimination tree use up one by one
/// (A. George, E. Ng, Symbolic factorization for sparse Gaussian elimination with partial pivoting, 1987). Bytes are 8
/// an entry, and 4 for the row of each: factors keep one list of rows for equal columns, and store some zeros.
/// Nearly a pass over the entries, 12 bytes an entry and 100 a row.
factor_size expected_fill(const columns& a, const host_array<std::int32_t>& place);

/// The same of the pattern of A, or of A + A' as if its pivots stayed on the diagonal, and what follows from the same
/// elimination tree.
struct fill_forecast {
  factor_size size;
  double operations = 0;          ///< of pivots that stay, about; else 0
  double most_operations = 0;     ///< of any pivots, where they are not expected to stay; else 0
  double in_last_columns = 0;     ///< of these, in the last columns, which fill three quarters of the rows left each
  host_array<std::int32_t> place; ///< the order with each subtree of columns in one piece: the same fill
};
fill_forecast forecast_fill(const columns& a, const host_array<std::int32_t>& place, bool pivots_stay);

/// The entries of A + A' under its diagonal in that order, those of a pattern that is not symmetric up to twice.
lower_pattern entries_below(const columns& a, const host_array<std::int32_t>& place);

} // namespace furrow::lu
