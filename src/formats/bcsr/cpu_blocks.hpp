// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

/// The rows of bcsr on the CPU: what to give to row_operator in place of `each_row`.
namespace furrow::bcsr_rows {

/// A block row at a time with a running sum a place of the block, so that no sum waits for the one before. A block row
/// that [first, last) cuts is added up whole, in the same order: rows may be cut anywhere.
struct whole_blocks {
  template <class V, class I>
  static void sums(const bcsr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

} // namespace furrow::bcsr_rows
