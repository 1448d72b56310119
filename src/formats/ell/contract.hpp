// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "formats/padded.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of ell.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const ell<V, host_array>& a) {
  if (a.width < 0) return fmt::format("width {}", a.width);
  if (a.stride != padded_rows(a.shape.rows)) return fmt::format("stride {} for {} rows", a.stride, a.shape.rows);
  if (a.col.size() != a.width * a.stride || a.val.size() != a.col.size())
    return fmt::format("{} columns and {} values for {} places of {}", a.col.size(), a.val.size(), a.width, a.stride);
  for (index_t k = 0; k < a.width; ++k) {
    for (index_t r = 0; r < a.stride; ++r) {
      const index_t at = k * a.stride + r;
      const std::int32_t col = a.col[at], before = k ? a.col[at - a.stride] : -1;
      if (col < -1 || col >= a.shape.cols || (col >= 0 && r >= a.shape.rows))
        return fmt::format("row {} has column {}", r, col);
      if (col >= 0 && k > 0 && before < 0) return fmt::format("row {}: column {} follows padding", r, col);
      if (col >= 0 && col <= before) return fmt::format("row {}: column {} follows {}", r, col, before);
      if (col < 0 && a.val[at] != V(0)) return fmt::format("row {}: padding holds {}", r, double(a.val[at]));
    }
  }
  return {};
}

} // namespace furrow
