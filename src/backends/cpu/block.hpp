// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <type_traits>

namespace furrow::cpu {

/// Vectors side by side that loops of fixed length take at once.
inline constexpr index_t most_in_block = 16;

/// The least of those widths that holds `count` vectors.
constexpr index_t block_width(index_t count) {
  return count <= 2 ? 2 : count <= 4 ? 4 : count <= 8 ? 8 : most_in_block;
}

/// f(std::integral_constant<int, W>) for the W that equals `count`; false where there is none.
template <class F> bool with_block_width(index_t count, F&& f) {
  switch (count) {
  case 2:
    return f(std::integral_constant<int, 2>{}), true;
  case 4:
    return f(std::integral_constant<int, 4>{}), true;
  case 8:
    return f(std::integral_constant<int, 8>{}), true;
  case 16:
    return f(std::integral_constant<int, 16>{}), true;
  default:
    return false;
  }
}

} // namespace furrow::cpu
