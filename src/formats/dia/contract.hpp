// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "formats/padded.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of dia.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const dia<V, host_array>& a) {
  const index_t diagonals = a.offset.size();
  if (a.stride != padded_rows(a.shape.rows)) return fmt::format("stride {} for {} rows", a.stride, a.shape.rows);
  if (a.val.size() != diagonals * a.stride)
    return fmt::format("{} values for {} diagonals of {}", a.val.size(), diagonals, a.stride);
  for (index_t d = 0; d < diagonals; ++d) {
    if (a.offset[d] <= -a.shape.rows || a.offset[d] >= a.shape.cols)
      return fmt::format("diagonal {} lies outside of {} x {}", a.offset[d], a.shape.rows, a.shape.cols);
    if (d > 0 && a.offset[d] <= a.offset[d - 1])
      return fmt::format("diagonal {} follows {}", a.offset[d], a.offset[d - 1]);
  }
  for (index_t d = 0; d < diagonals; ++d) {
    for (index_t r = 0; r < a.stride; ++r) {
      const index_t col = r + a.offset[d];
      const bool in = r < a.shape.rows && col >= 0 && col < a.shape.cols;
      if (!in && a.val[d * a.stride + r] != V(0))
        return fmt::format("diagonal {} holds {} outside of the matrix, in row {}", a.offset[d],
                           double(a.val[d * a.stride + r]), r);
    }
  }
  return {};
}

} // namespace furrow
