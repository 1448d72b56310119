// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <vector>

namespace furrow {

/// The plan of the `stream` kernel: tile t holds the rows [first[t], first[t + 1]). A tile has at most `entries`
/// entries and `rows` rows, or it is a single longer row. Depends on the matrix alone.
template <class I> std::vector<std::int32_t> cut_tiles(const host_array<I>& row_ptr, index_t entries, index_t rows) {
  std::vector<std::int32_t> first{0};
  const index_t total = row_ptr.size() - 1;
  for (index_t row = 0; row < total;) {
    const I* const begin = row_ptr.data() + row + 1;
    const I* const end = row_ptr.data() + std::min(total, row + rows) + 1;
    const index_t fitting =
        std::upper_bound(begin, end, static_cast<I>(row_ptr[row] + static_cast<I>(entries))) - begin;
    row += std::max<index_t>(fitting, 1);
    first.push_back(static_cast<std::int32_t>(row));
  }
  return first;
}

} // namespace furrow
