// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include <cstdint>
#include <optional>

/// Stencils that reach the plane before, that of the row itself and the one behind it: those of grids.
namespace furrow {

/// Where the entries of a stencil may lie: in three planes, `plane` rows apart, in each of them in one line or in
/// three, `line` rows apart, and in each line at the distances -1, 0 and 1. Place 9 p + 3 l + d is that in plane p,
/// line l (of one line: 0) and at distance d - 1; places ascend as columns do. The most frequent stencil says the
/// values of the places; one that has some of them and nothing else is told by a bit for each place.
template <class V> struct stencil_planes {
  static constexpr int places = 27, of_a_plane = 9, most_stencils = 255;
  static constexpr std::uint32_t every_place = (std::uint32_t(1) << places) - 1;
  static constexpr std::uint32_t is_told = every_place + 1; ///< a stencil whose bits say all of it

  std::int32_t plane = 0;            ///< rows of a plane
  std::int32_t line = 0;             ///< rows of a line; of one line the whole plane
  std::int32_t lines = 1;            ///< 1 or 3
  bool cross = false;                ///< no entries but along the three directions
  bool all_told = false;             ///< all stencils of the table
  std::uint32_t minus = 0, same = 0; ///< of each place of a plane: its values' sign, and whether they share it
  V val[places] = {};
  std::uint32_t mask[most_stencils + 1]; ///< of each number; every place where it is not told, or no stencil's

  bool is_told_by_bits(index_t number) const { return (mask[number] & is_told) != 0; }
};

/// A table in host memory.
template <class V> struct host_stencil_table {
  host_array<std::int32_t> start, offset;
  host_array<V> val;
};

/// Where the first stencil, the most frequent one, lies in planes of at least `least_plane` rows. uses: how many rows
/// have each of them. Nothing where it does not, where a value is not finite, or where it and those that are told by
/// its places have less than three quarters of all rows.
template <class V>
std::optional<stencil_planes<V>> find_planes(const host_stencil_table<V>& table, const std::vector<index_t>& uses,
                                             index_t rows, index_t least_plane);

} // namespace furrow
