// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include <algorithm>

namespace furrow {

/// Rows beside the table would cut runs of one stencil into pieces shorter than a vector. So such a row is given the
/// number of the row before it, where that stencil stays inside the columns; what this makes of the row is overwritten
/// by its own sum. Runs of more rows beside the table than these are cheaper left out.
inline constexpr index_t most_lent = 8;

/// to[r - first] for the rows [first, last): their numbers, those that are lent to rows beside the table, and
/// stencils() for the others of these. `beside` and `beside_end` are the positions of these rows in rest_row.
template <class V, class N>
void lend_numbers(const stencil<V, N, cview>& a, index_t first, index_t last, index_t beside, index_t beside_end,
                  N* to) {
  const stencil_table<V> t{a.start.data, a.offset.data, a.val.data};
  const std::int32_t* const rest_row = a.rest_row.data;
  const int none = stencils_of(a);
  std::copy_n(a.number.data + first, last - first, to);
  for (index_t k = beside; k < beside_end; ++k) {
    const index_t row = rest_row[k];
    if (k + most_lent < beside_end && rest_row[k + most_lent] == row + most_lent) {
      while (k + 1 < beside_end && rest_row[k + 1] == rest_row[k] + 1) ++k;
      continue;
    }
    if (row == first) continue;
    const N lent = to[row - first - 1];
    if (lent != none && stays_inside(t, lent, row, 1, a.shape.cols)) to[row - first] = lent;
  }
}

} // namespace furrow
