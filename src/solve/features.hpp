// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/source.hpp"

#include <furrow/stats.hpp>

#include <string>

namespace furrow {

/// What the choice of a method wants to know of a matrix, beside its statistics.
struct features {
  index_t rows = 0, more_columns = 0, nnz = 0, longest_row = 0;
  bool symmetric = false;                                               ///< up to rounding
  index_t zero_diagonal = 0, negative_diagonal = 0, small_diagonal = 0; ///< rows; small: below 1e-10 of the row
  index_t dominant = 0;                                                 ///< rows with |a_ii| >= the sum of the others
  index_t zero_sums = 0;                 ///< rows, and perhaps more, whose entries add up to zero but for rounding
  double diagonal_scales = 1;            ///< the largest |a_ii| over the smallest of those that are not 0
  double scales = 1;                     ///< the largest |a_ij| of a row, the largest one over the smallest
  index_t diagonals = 0;                 ///< with entries; 0: not counted
  index_t below = 0, above = 0;          ///< the farthest of these, 0: not known
  index_t blocks = 0, largest_block = 0; ///< diagonal ones (`lu::block_form`), and rows of the largest; 0: not known
  double in_blocks = 0;                  ///< operations that dense factors of all of these take

  bool square() const { return more_columns == 0; }
  bool positive_diagonal() const { return zero_diagonal == 0 && negative_diagonal == 0; }
  bool negative_only() const { return zero_diagonal == 0 && negative_diagonal == rows && rows > 0; }
  /// Whether the rows may be the points of a grid with their neighbours.
  bool may_be_grid() const { return diagonals > 1 && diagonals <= 27; }
  /// Whether a diagonal may precondition: where sizes of rows differ by more, a small residual says nothing of the
  /// unknowns in small rows.
  bool diagonal_in_all_rows() const { return zero_diagonal + small_diagonal == 0 && scales <= 1e4; }
  /// Whether incomplete factors of the rows as they stand promise little: because of zeros on the diagonal, of few
  /// dominant rows, of rows of very different sizes.
  bool wants_matching() const { return zero_diagonal + small_diagonal > 0 || 3 * dominant < rows || scales > 1e8; }
};

/// One parallel pass over the rows, and the test for symmetry. The same numbers for every number of threads.
template <class V> features features_of(const coo<V>& a, const stats& s, bool assume_symmetric);

template <class V> features features_of(const matrix_source<V>& a, const stats& s, bool assume_symmetric);

/// Finds the diagonal blocks of a square matrix that is not symmetric: two passes over the entries, 4 bytes an entry
/// and 40 a row. Nothing where no row is found for a column, as in a matrix that is structurally singular.
template <class V> void find_diagonal_blocks(const coo<V>& a, features& f);

/// Of |A|; with the largest row sum it bounds the spectral norm: |A|_2^2 <= |A|_1 |A|_inf.
template <class V> double largest_column_sum(const coo<V>& a);

/// "symmetric, 3 rows with a zero on the diagonal, ...": in a line, for people.
std::string describe(const features& f);

} // namespace furrow
