// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows.hpp"

#include <vector>

namespace furrow {

enum class triangle { lower, upper };

/// The level of each row of a triangle, given beside its diagonal: one more than the highest of those that it needs,
/// from 0.
template <class V> std::vector<std::int32_t> levels_of(const row_matrix<V>& beside, triangle side);

/// Solves with a triangular T, given by its rows: entries beside the diagonal, and the inverse diagonal (empty: ones).
///
/// Rows that need none of each other are a level, and the threads share it; levels of few rows are taken by one thread
/// together with their neighbours. Where most rows are in such levels (a band, a chain), or fewer than four threads are
/// there when it is made, all rows are taken in order.
/// Every row adds up its own entries in their order: the same bits for any number of threads. A level costs a wait of
/// a few microseconds; a solve reads T once, and x once for each entry.
/// E. Anderson, Y. Saad, Solving sparse triangular linear systems on parallel computers, 1989.
template <class V> class triangular_solver {
public:
  triangular_solver() = default;
  triangular_solver(row_matrix<V> beside, host_array<V> inverse_diagonal, triangle side);

  /// x <- T^-1 x.
  void solve(view<V> x) const;

  index_t levels() const { return levels_; } ///< the longest chain of rows that need each other
  bool in_parallel() const { return !order_.empty(); }
  index_t nnz() const { return rows_.nnz(); } ///< beside the diagonal
  double stored_bytes() const;

private:
  struct stretch {
    index_t first, last; ///< places in `order_`
    bool shared;         ///< whether threads share it: one level
  };
  void schedule();
  void take(index_t first, index_t last, view<V> x) const;

  row_matrix<V> rows_; ///< in the order in which they are taken
  host_array<V> inverse_;
  triangle side_ = triangle::lower;
  host_array<std::int32_t> order_; ///< the row taken k-th; empty: by number
  std::vector<stretch> stretches_;
  index_t levels_ = 0;
};

} // namespace furrow
