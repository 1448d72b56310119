// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include <fmt/format.h>

#include <string>

namespace furrow {

/// The first promise of bcsr.hpp that `a` breaks, or nothing.
template <class V, class I> std::string violation(const bcsr<V, I, host_array>& a) {
  const index_t k = a.edge;
  if (k < 2 || k > 8) return fmt::format("blocks of {} x {}", k, k);
  const index_t rows = blocks_over(a.shape.rows, k), blocks = a.block.size();
  if (a.block_ptr.size() != rows + 1)
    return fmt::format("block_ptr has {} elements for {} block rows", a.block_ptr.size(), rows);
  if (a.block_ptr[0] != 0) return fmt::format("block_ptr[0] is {}", a.block_ptr[0]);
  if (a.block_ptr[rows] != blocks || a.val.size() != blocks * k * k)
    return fmt::format("block_ptr ends at {}, with {} block columns and {} values", a.block_ptr[rows], blocks,
                       a.val.size());
  for (index_t r = 0; r < rows; ++r) // all of them before the first is followed
    if (a.block_ptr[r + 1] < a.block_ptr[r]) return fmt::format("block_ptr falls at block row {}", r);
  for (index_t r = 0; r < rows; ++r)
    for (index_t b = a.block_ptr[r]; b < a.block_ptr[r + 1]; ++b) {
      const index_t c = a.block[b];
      if (c < 0 || c * k >= a.shape.cols) return fmt::format("block row {} has block column {}", r, c);
      if (b > a.block_ptr[r] && c <= a.block[b - 1])
        return fmt::format("block row {}: block column {} follows {}", r, c, a.block[b - 1]);
      for (index_t at = 0; at < k * k; ++at)
        if ((r * k + at % k >= a.shape.rows || c * k + at / k >= a.shape.cols) && a.val[b * k * k + at] != V(0))
          return fmt::format("block ({}, {}) has a value outside of the matrix", r, c);
    }
  return {};
}

} // namespace furrow
