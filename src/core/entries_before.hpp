// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

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

/// The rows of sorted entries: the row of each, or the offsets of compressed rows. One of both is empty.
struct entry_rows {
  cview<std::int32_t> row, row_ptr;
};
template <class V> entry_rows rows_of_entries(const coo<V>& a) { return {as_cview(a.row), {}}; }
template <class V> entry_rows rows_of_entries(const borrowed_rows<V>& a) { return {{}, a.row_ptr}; }

inline index_t entries_before(const entry_rows& rows, index_t r) {
  return rows.row_ptr.empty() ? entries_before(rows.row, r) : rows.row_ptr[r];
}

/// Where each of the `count` rows from `first` on begins, and where the last one ends, of entries that are all of these
/// rows. length: that of every row of the matrix, or empty where they are not known: an addition a row in place of a
/// comparison an entry.
inline std::vector<index_t> starts_of_rows(const entry_rows& rows, const host_array<std::int32_t>& length,
                                           index_t first, index_t count) {
  std::vector<index_t> start(static_cast<std::size_t>(count) + 1);
  if (!rows.row_ptr.empty()) {
    std::copy_n(rows.row_ptr.begin() + first, count + 1, start.begin());
    return start;
  }
  const cview<std::int32_t> row = rows.row;
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
