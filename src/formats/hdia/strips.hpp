// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/sample.hpp"

#include <algorithm>

/// Slices of 16 rows, diagonal by diagonal. Diagonals that are full enough in a slice are stored as strips of 16
/// places.
namespace furrow {

inline constexpr index_t strip_height = 16;

/// At most 2048 slices, spread evenly: all of a matrix of at most `strips_counted` rows with few enough entries
/// (`sampled_rows`). s: its sizes. The same for every number of threads.
inline constexpr index_t strips_counted = 2048 * strip_height;
inline spread_rows sampled_slices(const stats& s) {
  const index_t rows = s.shape.rows, slices = (rows + strip_height - 1) / strip_height;
  return {rows, strip_height, slices,
          std::min(slices, sampled_rows(s, strips_counted / 16, strips_counted) / strip_height)};
}

/// What plans of slices add up to.
struct strip_counts {
  index_t entries = 0, strips = 0, beside = 0;
  estimate_numbers numbers() const {
    if (entries == 0) return {0, 1};
    return {double(strips) / double(entries), double(beside) / double(entries)};
  }
};

/// What the look of hdia finds: slices in which diagonals are stored as strips where that costs less, a place beside
/// strips counted twice. Of an entry of the matrix.
struct strip_fill {
  double strips = 0; ///< strips
  double beside = 1; ///< places of what lies beside them, in slices that are padded to their longest row
};
/// That of a matrix that was measured; of any other one the worst that there is.
strip_fill strip_fill_of(const stats& s);

} // namespace furrow
