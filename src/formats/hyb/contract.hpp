// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hyb.hpp"

#include "formats/ell/contract.hpp"

namespace furrow {

/// The first promise of hyb.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const hyb<V, host_array>& a) {
  if (a.regular.shape != a.shape || a.rest.shape != a.shape) return "the parts differ in shape";
  if (auto broken = violation(a.regular); !broken.empty()) return broken;
  const auto& rest = a.rest;
  if (rest.row.size() != rest.val.size() || rest.col.size() != rest.val.size())
    return fmt::format("{} rows, {} columns and {} values in the rest", rest.row.size(), rest.col.size(),
                       rest.val.size());
  for (index_t k = 0; k < rest.val.size(); ++k) {
    const std::int32_t row = rest.row[k], col = rest.col[k];
    if (row < 0 || row >= a.shape.rows || col < 0 || col >= a.shape.cols)
      return fmt::format("entry {} of the rest is at row {}, column {}", k, row, col);
    if (k > 0 && row < rest.row[k - 1]) return fmt::format("row {} follows {} in the rest", row, rest.row[k - 1]);
    const bool first = k == 0 || row != rest.row[k - 1];
    if (!first && col <= rest.col[k - 1])
      return fmt::format("row {}: column {} follows {} in the rest", row, col, rest.col[k - 1]);
    if (!first || a.regular.width == 0) continue;
    const std::int32_t before = a.regular.col[(a.regular.width - 1) * a.regular.stride + row];
    if (before < 0) return fmt::format("row {} goes on in the rest before it is full", row);
    if (col <= before) return fmt::format("row {}: column {} of the rest follows {}", row, col, before);
  }
  return {};
}

} // namespace furrow
