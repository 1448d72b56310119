// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "halo.hpp"

#include "matrix/source.hpp"

#include <furrow/coo.hpp>

#include <optional>
#include <string>

namespace furrow {

/// One more diagonal than a grid has at most: from there on nobody counts.
inline constexpr index_t most_diagonals = 28;

/// The rows of a rank, taken apart: `own` between its rows and its elements of x, `far` with the elements of others.
template <class V> struct rows_of_rank {
  std::vector<index_t> begins;               ///< of all ranks
  index_t first = 0;                         ///< its first row
  coo<V> own;                                ///< square
  std::optional<matrix_source<V>> own_there; ///< where it was taken apart on a GPU: there; `own` has its shape alone
  coo<V> far;                                ///< its rows with such entries x columns of the plan
  host_array<std::int32_t> far_rows;         ///< which these are, from 0 on
  halo_plan plan;
  // Of all ranks together:
  index_t unknowns = 0, longest_row = 0;
  double norm_inf = 0;
  // Of this rank, where it was taken apart on a GPU: what `look_at_rows` sees of rows at their places in the whole
  // matrix, and the diagonals of `own`, up to `most_diagonals`.
  rows_look look{};
  std::vector<std::int32_t> diagonals_of_own;
  bool finite = true, positive_diagonal = true, full_diagonal = true; ///< full: no 0
};

/// Takes rows with the columns of the whole matrix, and looks at them. All ranks call it; rank r has the rows behind
/// those of rank r - 1. Throws as `check_triplets`, and `fault::input` where the rows of all are not as many as the
/// columns.
template <class V> rows_of_rank<V> take_apart_rows(communicator& c, coo<V> rows);

/// The same of rows that were checked; of those on a GPU, with the current one, each rank's own block stays there, and
/// the host gets `far`.
template <class V> rows_of_rank<V> take_apart_rows(communicator& c, matrix_source<V> rows);

/// A rank's triplets whose columns are its own ones, from 0 on, and behind them `far`, as those of the whole matrix,
/// whose rows are `first` and the next. Each row is sorted.
template <class V> coo<V> with_global_columns(coo<V> a, index_t first, cview<std::int32_t> far, index_t columns);

/// The first pair, by rank, of entries whose difference is more than rounding, as a sentence; the question of
/// `check_symmetry`, asked by all ranks together, which get the same answer. Empty for a symmetric matrix. Each entry
/// that couples two ranks goes to the other one.
template <class V> std::string asymmetry(communicator& c, const rows_of_rank<V>& a);

/// The largest sum of |A[i,j]| over a column, of which several ranks may hold parts. All ranks call it. A pass over the
/// triplets on the host, which come there.
template <class V> double largest_column_sum(communicator& c, const rows_of_rank<V>& a);
/// The same of rows whose columns behind a rank's own ones are those of the plan.
template <class V> double largest_column_sum(communicator& c, const coo<V>& wide, const halo_plan& plan);

} // namespace furrow
