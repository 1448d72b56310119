// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of csr.hpp that `a` breaks, or nothing.
template <class V, class I> std::string violation(const csr<V, I, host_array>& a) {
  if (a.row_ptr.size() != a.shape.rows + 1)
    return fmt::format("row_ptr has {} elements for {} rows", a.row_ptr.size(), a.shape.rows);
  if (a.row_ptr[0] != 0) return fmt::format("row_ptr[0] is {}", a.row_ptr[0]);
  if (a.row_ptr[a.shape.rows] != a.val.size() || a.col.size() != a.val.size())
    return fmt::format("row_ptr ends at {}, with {} columns and {} values", a.row_ptr[a.shape.rows], a.col.size(),
                       a.val.size());
  for (index_t r = 0; r < a.shape.rows; ++r) // all of them before the first is followed
    if (a.row_ptr[r + 1] < a.row_ptr[r]) return fmt::format("row_ptr falls at row {}", r);
  for (index_t r = 0; r < a.shape.rows; ++r) {
    for (I k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      if (a.col[k] < 0 || a.col[k] >= a.shape.cols) return fmt::format("row {} has column {}", r, a.col[k]);
      if (k > a.row_ptr[r] && a.col[k] <= a.col[k - 1])
        return fmt::format("row {}: column {} follows {}", r, a.col[k], a.col[k - 1]);
    }
  }
  return {};
}

} // namespace furrow
