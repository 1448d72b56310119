// SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include "core/row_offsets.hpp"

#include <algorithm>

namespace furrow {

template <class I> std::vector<index_t> cut_by_offsets(cview<I> row_ptr, int ranks) {
  const index_t rows = row_ptr.size - 1;
  const auto before = [&](index_t r) { return row_ptr[r] + entries_of_a_row * r; };
  std::vector<index_t> begins{0};
  for (int k = 1; k < ranks; ++k) {
    const double wanted = double(before(rows)) * k / ranks;
    index_t low = begins.back(), high = rows; // the first row with as much work before it
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (double(before(middle)) < wanted) low = middle + 1;
      else high = middle;
    }
    begins.push_back(low);
  }
  begins.push_back(rows);
  return begins;
}

template std::vector<index_t> cut_by_offsets(cview<std::int32_t>, int);
template std::vector<index_t> cut_by_offsets(cview<std::int64_t>, int);

std::vector<index_t> cut_by_entries(cview<std::int32_t> row, index_t rows, int ranks) {
  return cut_by_offsets(as_cview(offsets_of_rows<index_t>(row, rows)), ranks);
}

int owner_of(const std::vector<index_t>& begins, index_t i) {
  return static_cast<int>(std::ranges::upper_bound(begins, i) - begins.begin()) - 1;
}

} // namespace furrow
