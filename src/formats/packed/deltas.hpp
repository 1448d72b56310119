// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/sample.hpp"

#include <furrow/stats.hpp>

#include <algorithm>
#include <cstdint>

/// Columns of 32 neighbouring rows, slot by slot, as the least of them and what each is above it.
namespace furrow {

inline constexpr int delta_rows = 32;

/// Bytes of a delta of `bytes` bytes that means: no entry here. So the largest delta is one less.
FURROW_HD constexpr std::uint32_t no_entry(int bytes) { return 0xffffffffu >> (32 - 8 * bytes); }

/// The fewest bytes, 1, 2 or 4, that hold every delta up to `largest`.
FURROW_HD constexpr int delta_bytes_for(index_t largest) {
  return largest < index_t(no_entry(1)) ? 1 : largest < index_t(no_entry(2)) ? 2 : 4;
}

/// 32-bit words that a row takes for `slots` numbers of `bytes` bytes each.
FURROW_HD constexpr index_t words_for(index_t slots, int bytes) { return (slots * bytes + 3) / 4; }

/// Bytes that the columns of a slice take: a base a slot, and deltas.
FURROW_HD constexpr index_t bytes_of_slice(index_t width, index_t largest_delta) {
  return 4 * width + 4 * delta_rows * words_for(width, delta_bytes_for(largest_delta));
}

/// The windows of so many rows that the look of packed takes, or slices where rows stay where they are.
inline index_t most_slices(const stats& s) { return sampled_rows(s, 64 * delta_rows, 512 * delta_rows) / delta_rows; }
inline spread_rows sampled_windows(const stats& s, index_t window) {
  const index_t rows = s.shape.rows, together = std::max<index_t>(window, delta_rows);
  const index_t windows = (rows + together - 1) / together;
  return {rows, together, windows, std::min(windows, std::max<index_t>(2, most_slices(s) * delta_rows / together))};
}
/// The slices that it takes of each of these windows: not all of two large ones.
inline spread_rows slices_of_window(const stats& s, const spread_rows& windows) {
  const index_t rows = std::min(windows.height, windows.rows), all = (rows + delta_rows - 1) / delta_rows;
  const index_t each = most_slices(s) / std::max<index_t>(windows.count, 1);
  return {rows, delta_rows, all, std::clamp<index_t>(each, std::min<index_t>(all, 1), all)};
}

/// What it adds up.
struct column_bytes {
  index_t bytes = 0, places = 0;
  double a_place() const { return places ? double(bytes) / double(places) : 4; }
};

using column_byte_counts = std::array<double, sorting_windows.size()>;

/// What the look of packed finds: bytes a place, bases and padding included, that columns take as deltas in slices of
/// 32 rows, for each window of `sorting_windows` that `s.slice_places` counts; as they lie where it does not. Measured
/// on at most 512 slices of two windows or more, spread evenly; 4 for a matrix without entries, and for one that was
/// not measured.
column_byte_counts column_bytes_of(const stats& s);

} // namespace furrow
