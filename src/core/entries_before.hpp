// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <vector>

namespace furrow {

/// The number of entries before row r, for sorted row indices. Looks first where it would be if all rows between the
/// first and the last one were alike, and then further and further away: a search by halves of a large matrix waits for
/// memory 20 times.
inline index_t entries_before(cview<std::int32_t> row, index_t r) {
  if (row.empty() || r <= row[0]) return 0;
  const std::int32_t last = row[row.size - 1];
  if (r > last) return row.size;
  const double share = double(r - row[0]) / (double(last) - row[0] + 1);
  index_t low = static_cast<index_t>(share * double(row.size)), high = low; // row[low] < r <= row[high], in the end
  for (index_t step = 16; low > 0 && row[low] >= r; step *= 4) high = low, low = std::max<index_t>(0, low - step);
  for (index_t step = 16; row[high] < r; step *= 4) low = high, high = std::min(row.size - 1, high + step);
  return std::lower_bound(row.begin() + low, row.begin() + high, r) - row.begin();
}

/// Where each of the `count` rows from `first` on begins, and where the last one ends, for sorted row indices that hold
/// all entries of these rows. length: that of every row of the matrix, or empty where they are not known: an addition a
/// row in place of a comparison an entry.
inline std::vector<index_t> starts_of_rows(cview<std::int32_t> row, const host_array<std::int32_t>& length,
                                           index_t first, index_t count) {
  std::vector<index_t> start(static_cast<std::size_t>(count) + 1);
  index_t k = entries_before(row, first);
  for (index_t r = 0; r < count; ++r) {
    start[r] = k;
    if (length.empty())
      while (k < row.size && row[k] == first + r) ++k;
    else k += length[first + r];
  }
  start[count] = k;
  return start;
}

} // namespace furrow
