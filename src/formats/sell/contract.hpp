// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sell.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// Whether `order` is empty or holds every row once.
inline bool is_order_of_rows(const host_array<std::int32_t>& order, index_t rows) {
  if (order.empty()) return true;
  if (order.size() != rows) return false;
  std::vector<char> seen(static_cast<std::size_t>(rows), 0);
  for (const std::int32_t row : order)
    if (row < 0 || row >= rows || std::exchange(seen[static_cast<std::size_t>(row)], 1)) return false;
  return true;
}

/// The first promise of sell.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const sell<V, host_array>& a) {
  const index_t height = a.height, rows = a.shape.rows;
  if (height < 4 || height > 256 || !std::has_single_bit(static_cast<std::uint64_t>(height)))
    return fmt::format("the height is {}", height);
  const index_t slices = (rows + height - 1) / height;
  if (a.slice_ptr.size() != slices + 1)
    return fmt::format("slice_ptr has {} elements for {} slices", a.slice_ptr.size(), slices);
  if (a.slice_ptr[0] != 0) return fmt::format("slice_ptr[0] is {}", a.slice_ptr[0]);
  for (index_t s = 0; s < slices; ++s) { // all of them before the first is followed
    const index_t places = a.slice_ptr[s + 1] - a.slice_ptr[s];
    if (places < 0 || places % height) return fmt::format("slice {} has {} places", s, places);
  }
  if (a.slice_ptr[slices] != a.val.size() || a.col.size() != a.val.size())
    return fmt::format("slice_ptr ends at {}, with {} columns and {} values", a.slice_ptr[slices], a.col.size(),
                       a.val.size());
  if (!is_order_of_rows(a.row, rows)) return "the rows at the positions are no permutation";
  for (index_t s = 0; s < slices; ++s) {
    bool reached = a.slice_ptr[s] == a.slice_ptr[s + 1];
    for (index_t position = s * height; position < (s + 1) * height; ++position) {
      std::int32_t before = -1;
      bool ended = position >= rows;
      for (index_t at = a.slice_ptr[s] + position % height; at < a.slice_ptr[s + 1]; at += height) {
        const std::int32_t col = a.col[at];
        if (col < -1 || col >= a.shape.cols) return fmt::format("position {} has column {}", position, col);
        if (ended && col >= 0) return fmt::format("position {} has an entry behind its padding", position);
        ended = col < 0;
        if (ended && (a.val[at] != V(0) || std::signbit(a.val[at])))
          return fmt::format("position {}: padding has a value", position);
        if (!ended && col <= before) return fmt::format("position {}: column {} follows {}", position, col, before);
        before = ended ? before : col;
      }
      reached = reached || !ended;
    }
    if (!reached) return fmt::format("slice {} is wider than its longest row", s);
  }
  return {};
}

} // namespace furrow
