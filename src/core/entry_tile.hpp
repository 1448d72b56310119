// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <array>
#include <cstdint>

namespace furrow {

/// A stretch of triplets that the first cache holds while it is looked at several times.
struct entry_tile {
  static constexpr index_t most = 512;
  static constexpr std::size_t room = most + 16; ///< whole vectors are written

  index_t begin = 0, count = 0;                      ///< the triplets [begin, begin + count)
  int starts = 0;                                    ///< of them those that begin a row
  int on_diagonal = 0;                               ///< those whose row is their column
  std::int32_t least_offset = 0, most_offset = 0;    ///< 0 is between them
  alignas(64) std::array<std::int32_t, room> start;  ///< [0, starts): how far behind `begin`
  alignas(64) std::array<std::int32_t, room> offset; ///< [0, count): column minus row
};

/// Fills `to` from the triplets [begin, begin + count), at most `most` of them; row and col point to the first of them,
/// behind the one before it. False where one is outside of the matrix or does not come after that; `to` is of no use
/// then.
bool look_at_places(shape2 shape, const std::int32_t* row, const std::int32_t* col, index_t begin, index_t count,
                    entry_tile& to);

/// What values tell one by one.
struct value_sums {
  double largest = 0; ///< |val|, of those that are numbers
  index_t zeros = 0;
  bool finite = true;
};
/// Takes `count` values in.
template <class V> void look_at_values(const V* val, index_t count, value_sums& to);

/// Of the rows that end where a start from the `from`-th on begins, the first of them at `open`: writes their lengths,
/// and returns the larger one of `largest` and their sums of |val|, each as `sum_of_row` adds it. row: of the first
/// entry of the tile; val: of all entries.
template <class V>
double add_up_rows(const std::int32_t* row, const V* val, const entry_tile& t, int from, index_t open,
                   std::int32_t* row_length, double largest);

} // namespace furrow
