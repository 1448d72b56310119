// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"

#include <algorithm>

namespace furrow::kit {

/// sums(first, last, out) writes the sums of the rows [first, last): the same bits however the rows are cut.
template <class V, class Sums> void check_cuts(index_t rows, Sums sums) {
  host_array<V> whole(rows), cut(rows);
  sums(index_t(0), rows, whole.data());
  for (const index_t step : {1, 3, 5, 16, 17, 64}) {
    for (index_t row = 0; row < rows; row += step) sums(row, std::min(row + step, rows), cut.data() + row);
    EXPECT_TRUE(same_bits(as_cview(whole), as_cview(cut))) << step << " rows";
  }
}

} // namespace furrow::kit
