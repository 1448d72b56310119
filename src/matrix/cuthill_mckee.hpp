// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows.hpp"

namespace furrow {

/// The pattern of A + A' without its diagonal: the neighbours of each row, ascending.
struct adjacency {
  host_array<index_t> row_ptr;
  host_array<std::int32_t> col;
  index_t degree(index_t i) const { return row_ptr[i + 1] - row_ptr[i]; }
};
template <class V> adjacency neighbours_of(row_view<V> a);

/// The row that comes k-th so that the entries of A + A' lie near the diagonal: levels of a search in breadth from a
/// row at the rim of each component, those of fewer neighbours first, all of it reversed. Serial; the same order on
/// every run. E. Cuthill, J. McKee, 1969; A. George, J. W. H. Liu, Computer Solution of Large Sparse Positive Definite
/// Systems, 1981, for where to begin.
host_array<std::int32_t> reverse_cuthill_mckee(const adjacency& g);

} // namespace furrow
