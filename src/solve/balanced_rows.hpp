// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/view.hpp>

#include <cstdint>
#include <vector>

namespace furrow {

/// Sets of rows, no row in two of them, over each of which every column of A adds up to zero, up to rounding of its own
/// entries: no A x has anything of the vector that is 1 on such a set and 0 elsewhere. Looked at are of each connected
/// part of A all rows, those whose diagonal is positive, and the others: the first ones are balanced in a graph's
/// Laplacian and in a grid without a boundary value, the last ones in an enclosed flow, whose pressure is free.
struct balanced_rows {
  std::vector<std::int32_t> set_of; ///< of each row; -1: none. Empty where no set is balanced
  std::vector<index_t> rows_of;     ///< of each set

  bool none() const { return rows_of.empty(); }
};

/// A square. Two passes over the entries, one of which joins rows with columns, and some 50 bytes a row; serial.
template <class V> balanced_rows balanced_rows_of(const coo<V>& a);

/// Takes its mean over each set out of b, which leaves the part of b nearest to it that the sets allow. Returns the
/// norm of what was taken. Two passes over b.
template <class V> double take_means_out(const balanced_rows& sets, view<V> b);

} // namespace furrow
