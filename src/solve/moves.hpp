// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <functional>
#include <vector>

/// Vectors, reports and callbacks of a system whose rows and columns were moved.
namespace furrow {

/// B = A[row, column] in the numbers of a system that was moved.
struct system_moves {
  host_array<std::int32_t> row, column; ///< of A, at each row and each column of B; empty: nothing moves
  explicit operator bool() const { return !row.empty(); }
};

/// Whether a sentence says which row or column is to blame.
bool names_rows(const std::string& message);

/// Solves A x = b by `solve`, which solves with B: right-hand sides in host memory, one behind the other, x as it comes
/// and goes. Reports name elements of b and x by the numbers of A.
template <class V>
std::vector<solve_report> solve_moved(const system_moves& moves, cview<V> b, view<V> x, index_t columns,
                                      const std::function<std::vector<solve_report>(cview<V>, view<V>)>& solve);

/// Whoever is told of x gets it in the order of A. The moves outlive the options.
void tell_in_order(solve_options& o, const system_moves& moves);

} // namespace furrow
