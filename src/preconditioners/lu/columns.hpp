// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <limits>
#include <optional>
#include <vector>

namespace furrow::lu {

/// Where element k lies.
inline std::size_t at(index_t k) { return static_cast<std::size_t>(k); }

/// Compressed columns of doubles with 32-bit offsets, as SuperLU wants them. Rows ascending, no stored zeros.
struct columns {
  index_t n = 0;
  host_array<std::int32_t> begin, row; ///< begin: n + 1 offsets
  host_array<double> val;
  bool symmetric_pattern = false; ///< and no zero on the diagonal, where pivots would stay
  index_t nnz() const { return val.size(); }
};

/// Diagonals that hold entries.
struct bandwidth {
  index_t below = 0, above = 0;
};

/// R A C in columns, with powers of two R and C: nothing is rounded, and the largest entry of every row and column is
/// near 1. Throws `fault::input` for more entries than 32 bits count.
struct scaled_columns {
  columns a;
  host_array<double> row_scale, col_scale;
};
template <class V> scaled_columns scale_and_sort(const coo<V>& a);

/// D A D of a symmetric matrix with a positive diagonal, whole, from its lower triangle, with powers of two D that
/// bring the diagonal near 1; empty for any other matrix, and for one of which an entry shows that it is not positive
/// definite: A_ij^2 >= A_ii A_jj. Throws as the one above.
template <class V> std::optional<scaled_columns> scale_symmetric(const coo<V>& a);

bandwidth bandwidth_of(const columns& a);

/// A'. Two passes over the entries, 12 bytes for each.
columns transposed(const columns& a);

/// What a pass over the entries tells of a matrix that may be symmetric.
struct diagonals {
  bandwidth width;
  bool positive = false; ///< the main one
};
template <class V> diagonals diagonals_of(const coo<V>& a);

/// A row for each column, in which it has an entry, each row for one column.
struct transversal {
  std::vector<std::int32_t> column_of_row; ///< empty: each row is that of the column of its number
  index_t without = -1;                    ///< a column for which no row is left, whatever the values; -1: none

  std::int32_t column_of(std::int32_t row) const { return column_of_row.empty() ? row : column_of_row[at(row)]; }
};

/// A maximum matching of columns with rows by augmenting paths (I. S. Duff, On algorithms for obtaining a maximum
/// transversal, 1981). A matrix with a column that has no row is singular; the others are not all matched then, nor
/// where rounds of searches, a pass over the entries each at most, would be more than `most_rounds`. Hears
/// `stops_set_up`.
transversal transversal_of(const columns& a, index_t most_rounds = std::numeric_limits<index_t>::max());

} // namespace furrow::lu
