// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"

#include <vector>

namespace furrow::lu {

/// Where the Cholesky factor of a symmetric matrix has entries, by supernodes: neighbouring columns that share their
/// rows, and are kept as one dense panel (C. Ashcraft, R. Grimes, The influence of relaxed supernode partitions on the
/// multifrontal method, 1989: a few zeros are stored where that makes panels wider).
struct cholesky_pattern {
  host_array<std::int32_t> place;         ///< of each column of A in the order of the factor
  std::vector<std::int32_t> first;        ///< columns of supernode s: first[s] to first[s + 1]
  std::vector<std::int32_t> supernode_of; ///< a column
  std::vector<index_t> rows_from;         ///< where the rows of a supernode begin
  std::vector<std::int32_t> rows;         ///< its own columns, and ascending those below
  std::vector<index_t> values_from;       ///< where its panel begins: rows x columns, by columns
  double entries = 0;                     ///< of the factor, without stored zeros
  double operations = 0;                  ///< of the factorisation of these: the squares of the counts of its columns

  index_t supernodes() const { return index_t(first.size()) - 1; }
  index_t width(index_t s) const { return first[at(s + 1)] - first[at(s)]; }
  index_t height(index_t s) const { return rows_from[at(s + 1)] - rows_from[at(s)]; }
  const std::int32_t* rows_of(index_t s) const { return rows.data() + rows_from[at(s)]; }
};

/// Of a symmetric pattern that is kept whole, or of A + A' for another one, with its columns in that order (column j
/// stands at place[j]) but for those that are brought together. Nearly a pass over the entries and one over the rows of
/// the panels.
cholesky_pattern pattern_of_factor(const columns& a, const host_array<std::int32_t>& place);

} // namespace furrow::lu
