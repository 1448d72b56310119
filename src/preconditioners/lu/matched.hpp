// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"

namespace furrow::lu {

/// Whether all entries beside the diagonal are mirrored: a symmetric pattern, whatever the diagonal holds.
bool is_mirrored(const columns& a);

/// Whether a diagonal entry is less than a thousandth of the largest entry of its column: then it is hardly a pivot.
bool has_weak_diagonal(const columns& a);

/// P R A C with powers of two R and C.
struct arranged_columns {
  columns a;
  host_array<std::int32_t> row_at; ///< the row of A that stands at each row; empty: that one
  host_array<double> row_scale, col_scale;
};

/// With the entries of a matching of the largest product (`match_heavy_diagonal`) on its diagonal, near 1, and no
/// larger ones beside it. For a matrix without a column that has no row. 40 bytes an entry. Hears `stops_set_up`.
arranged_columns match_rows(const columns& a);

/// A scaled likewise, its rows where they are: whatever the units of rows and columns of A were, the result is the same
/// up to powers of two.
arranged_columns scale_by_matching(const columns& a);

/// A scaled likewise, its rows where they are, and a symmetric pattern in which columns that stand in for each other's
/// weak diagonal are brought together, two and two: both have the rows of both, and their own. They are neighbours then
/// in any order that keeps factors sparse, in one supernode, whose pivots come from the 2 x 2 block. Pairs are
/// neighbours in the cycles of the matching (I. S. Duff, S. Pralet, Strategies for scaling and pivoting for sparse
/// symmetric indefinite problems, 2005); columns with a diagonal of a tenth at least stay alone, as does one of each
/// odd cycle. For a mirrored pattern. At most 4 times the entries.
struct paired_columns {
  arranged_columns scaled;
  columns pattern;
};
paired_columns match_pairs(const columns& a);

} // namespace furrow::lu
