// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace furrow {

/// A piece of work of the `stream` kernel: rows [row, row + rows), entries [begin, begin + count).
struct tile {
  index_t begin;
  std::int32_t row, rows, count; ///< count < 0: one row that is longer than a tile may be
};

/// Lanes that take a row of a tile together: at least four entries each, at most `widest`.
FURROW_HD constexpr int tile_width(std::int64_t entries, std::int64_t rows, int widest) {
  int width = 1;
  while (8 * width * rows <= entries && width < widest) width *= 2;
  return width;
}

/// Rows of a tile such that a block of `threads` takes them in whole passes, where the rows have `mean` entries.
constexpr index_t tile_rows(double mean, index_t entries, index_t threads, index_t most) {
  const auto width = tile_width(static_cast<std::int64_t>(mean), 1, 32);
  const index_t pass = threads / width, fitting = static_cast<index_t>(double(entries) / (mean > 1 ? mean : 1));
  return std::clamp(fitting / pass * pass, pass, most);
}

/// Cuts a matrix into tiles of at most `entries` entries and `rows` rows each, in order and without gaps. Depends on
/// the matrix alone.
template <class I> std::vector<tile> cut_tiles(const host_array<I>& row_ptr, index_t entries, index_t rows) {
  std::vector<tile> tiles;
  const index_t total = row_ptr.size() - 1;
  for (index_t row = 0; row < total;) {
    const index_t begin = row_ptr[row];
    const I* const first = row_ptr.data() + row + 1;
    const I* const last = row_ptr.data() + std::min(total, row + rows) + 1;
    const index_t fitting = std::upper_bound(first, last, begin + entries) - first;
    const index_t taken = std::max<index_t>(fitting, 1);
    const index_t count = fitting ? row_ptr[row + taken] - begin : -1;
    tiles.push_back(
        {begin, static_cast<std::int32_t>(row), static_cast<std::int32_t>(taken), static_cast<std::int32_t>(count)});
    row += taken;
  }
  return tiles;
}

} // namespace furrow
