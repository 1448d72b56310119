// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/sample.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

/// Slices of 16 rows, diagonal by diagonal. Diagonals that are full enough in a slice are stored as strips of 16
/// places.
namespace furrow {

inline constexpr index_t strip_height = 16;

/// The triplets of a diagonal in the rows of a slice; -1 where a row has none.
using strip_entries = std::array<index_t, strip_height>;

/// f(i) for each bit i of `rows`, ascending.
template <class F> void each_bit(std::uint32_t rows, F&& f) {
  for (; rows; rows &= rows - 1) f(index_t(std::countr_zero(rows)));
}

/// found(offset, entries, rows) for each diagonal that has entries in slice s, by ascending offset = column minus row;
/// bit i of `rows` says that row i has one. `k` is the first triplet of the slice; returns that of the next one. Cost:
/// 16 comparisons a diagonal.
template <class Triplets, class F> index_t each_diagonal(const Triplets& a, index_t s, index_t k, F&& found) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  const index_t first = s * strip_height;
  std::array<index_t, strip_height> at, end;
  alignas(64) std::array<std::int32_t, strip_height> next; // offset of the next entry of each row
  const auto look = [&](index_t i) {
    next[i] = at[i] < end[i] ? static_cast<std::int32_t>(a.col[at[i]] - first - i) : none;
  };
  for (index_t i = 0; i < strip_height; ++i) {
    at[i] = k;
    while (k < a.nnz() && a.row[k] == first + i) ++k;
    end[i] = k;
    look(i);
  }
  strip_entries entries;
  entries.fill(-1);
  for (;;) {
    std::int32_t offset = none;
    for (index_t i = 0; i < strip_height; ++i) offset = std::min(offset, next[i]);
    if (offset == none) return k;
    std::uint32_t rows = 0;
    for (index_t i = 0; i < strip_height; ++i) rows |= std::uint32_t(next[i] == offset) << i;
    each_bit(rows, [&](index_t i) {
      entries[i] = at[i]++;
      look(i);
    });
    found(offset, entries, rows);
    each_bit(rows, [&](index_t i) { entries[i] = -1; });
  }
}

template <class Triplets>
index_t entries_not_zero(const Triplets& a, const strip_entries& entries, std::uint32_t rows) {
  index_t count = 0;
  each_bit(rows, [&](index_t i) { count += a.val[entries[i]] != 0; });
  return count;
}

/// How a slice is stored: diagonals with at least `least` entries that are not 0 are strips, the other entries lie
/// beside them in rows that are padded to the longest one.
struct strip_plan {
  index_t least = 1, strips = 0, width = 0;
  index_t next = 0; ///< the first triplet of the next slice
};

/// The cheapest plan of least = 8, 4, 2 and 1: a place beside strips, which has a column, costs as much as two in
/// strips.
template <class Triplets> strip_plan plan_strips(const Triplets& a, index_t s, index_t k) {
  constexpr std::size_t kinds = 4; // of diagonals: 8 entries and more, 4 to 7, 2 or 3, 1
  std::array<index_t, kinds> strips{};
  std::array<std::array<index_t, strip_height>, kinds> beside{}; // [k]: entries of each row in no strip of kinds 0 to k
  strip_plan best;
  best.next = each_diagonal(a, s, k, [&](std::int32_t, const strip_entries& entries, std::uint32_t rows) {
    const index_t count = entries_not_zero(a, entries, rows);
    const std::size_t kind = count >= 8 ? 0 : count >= 4 ? 1 : count >= 2 ? 2 : count == 1 ? 3 : 4;
    if (kind < kinds) ++strips[kind];
    if (kind == 0 && count == std::popcount(rows)) return; // a strip whatever `least` is
    each_bit(rows, [&](index_t i) {
      const std::size_t out = a.val[entries[i]] == 0 ? kinds : kind;
      for (std::size_t all = 0; all < out; ++all) ++beside[all][i];
    });
  });
  index_t fewest = std::numeric_limits<index_t>::max(), sum = 0;
  for (std::size_t all = 0; all < kinds; ++all) {
    sum += strips[all];
    const index_t width = *std::max_element(beside[all].begin(), beside[all].end());
    if (sum + 2 * width >= fewest) continue;
    fewest = sum + 2 * width;
    best.least = index_t(8) >> all;
    best.strips = sum;
    best.width = width;
  }
  return best;
}

/// strip(n, offset, i, k) for each triplet k of row i of the slice that lies in its n-th strip; beside(i, n, k) for the
/// others, the n-th of their row by ascending column. An entry 0 is never in a strip, where it would not be told from
/// padding. Returns the first triplet of the next slice.
template <class V, class Strip, class Beside>
index_t split_slice(const coo<V>& a, index_t s, index_t k, index_t least, Strip&& strip, Beside&& beside) {
  index_t strips = 0;
  std::array<index_t, strip_height> others{};
  return each_diagonal(a, s, k, [&](std::int32_t offset, const strip_entries& entries, std::uint32_t rows) {
    const index_t count = entries_not_zero(a, entries, rows);
    const bool is_strip = count >= least;
    each_bit(rows, [&](index_t i) {
      const index_t e = entries[i];
      if (is_strip && a.val[e] != V(0)) {
        strip(strips, offset, i, e);
      } else {
        beside(i, others[i], e);
        ++others[i];
      }
    });
    strips += is_strip;
  });
}

/// At most 2048 slices, spread evenly: all of a matrix of at most `strips_counted` rows with few enough entries
/// (`sampled_rows`). s: its sizes. The same for every number of threads.
inline constexpr index_t strips_counted = 2048 * strip_height;
inline spread_rows sampled_slices(const stats& s) {
  const index_t rows = s.shape.rows, slices = (rows + strip_height - 1) / strip_height;
  return {rows, strip_height, slices,
          std::min(slices, sampled_rows(s, strips_counted / 8, strips_counted) / strip_height)};
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
