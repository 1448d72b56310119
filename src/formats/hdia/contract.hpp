// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hdia.hpp"

#include "formats/sell/contract.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of hdia.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const hdia<V, host_array>& a) {
  const index_t rows = a.shape.rows, cols = a.shape.cols, slices = (rows + strip_height - 1) / strip_height;
  if (a.strip_ptr.size() != slices + 1)
    return fmt::format("strip_ptr has {} elements for {} slices", a.strip_ptr.size(), slices);
  if (a.strip_ptr[0] != 0) return fmt::format("strip_ptr[0] is {}", a.strip_ptr[0]);
  for (index_t s = 0; s < slices; ++s) // all of them before the first is followed
    if (a.strip_ptr[s + 1] < a.strip_ptr[s]) return fmt::format("slice {} has a negative number of strips", s);
  const index_t strips = a.strip_ptr[slices];
  if (a.offset.size() != strips || a.val.size() != strips * strip_height)
    return fmt::format("{} strips with {} offsets and {} values", strips, a.offset.size(), a.val.size());
  for (index_t s = 0; s < slices; ++s) {
    for (index_t k = a.strip_ptr[s]; k < a.strip_ptr[s + 1]; ++k) {
      if (k > a.strip_ptr[s] && a.offset[k] <= a.offset[k - 1])
        return fmt::format("slice {}: strip {} follows {}", s, a.offset[k], a.offset[k - 1]);
      index_t entries = 0;
      for (index_t i = 0; i < strip_height; ++i) {
        const index_t row = s * strip_height + i, col = row + a.offset[k];
        const V v = a.val[k * strip_height + i];
        entries += v != V(0);
        if (v != V(0) && (row >= rows || col < 0 || col >= cols))
          return fmt::format("slice {}: strip {} holds {} outside of the matrix", s, a.offset[k], double(v));
      }
      if (entries == 0) return fmt::format("slice {}: strip {} is empty", s, a.offset[k]);
    }
  }
  if (!(a.rest.shape == a.shape) || a.rest.height != strip_height || !a.rest.row.empty())
    return "the rest has another shape, height or order";
  return violation(a.rest);
}

} // namespace furrow
