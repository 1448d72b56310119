// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows.hpp"

#include <functional>

namespace furrow {

/// Rows paired with columns so that the product of the paired |a_ij| is largest, and scales under which every pair has
/// |r_i a_ij c_j| = 1 and no entry is larger: up to rounding, an I-matrix when row `row_of[j]` stands at place j.
struct heavy_diagonal {
  host_array<std::int32_t> row_of; ///< of each column; a permutation
  host_array<double> row_scale, col_scale;
  index_t rank = 0;      ///< pairs that are entries: the structural rank
  index_t unpaired = -1; ///< the first row without a pair, where rank < n: it is given a column that was left over
};

/// Shortest augmenting paths over c_ij = log max_k |a_ik| - log |a_ij| with a heap and dual variables u, v, where
/// c_ij - u_i - v_j >= 0, and = 0 for pairs; r_i = e^u_i / max_k |a_ik|, c_j = e^v_j. Stored zeros are no entries. For
/// a structurally singular A as many pairs as there can be, though not of the largest product; the bound on the entries
/// holds all the same. `a` is square and finite. `look` is called now and then, a few milliseconds apart, and may
/// throw. Takes 8 bytes an entry and 60 a row; serial; mostly a few passes over A. Where paths are long (2 passes, and
/// a million entries) rounds of short searches and of forests from all rows without a pair go on: 30 passes of
/// powerlaw:50000:16:2.2 in place of 70, at worst n of them with a factor log n. The same answer on every run. I. S.
/// Duff, J. Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, 2001.
template <class V> heavy_diagonal match_heavy_diagonal(row_view<V> a, const std::function<void()>& look = {});

} // namespace furrow
