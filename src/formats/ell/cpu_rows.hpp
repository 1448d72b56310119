// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

/// Rows of ell on the CPU, in place of `each_row`. The sums of a block of rows stay in the first cache while its
/// columns go by, up to four at a time and vectorised over the rows, so no branch depends on the length of a row.
/// Columns without padding in the block, which one look at their indices tells, read x unchecked; the others by masked
/// gathers, up to the first one that is nothing but padding.
///
/// Each row adds its entries in their order, so rows may be cut anywhere: |y - A x| <= (row length + 1) u |A| |x|.
namespace furrow::ell_rows {

/// Elements of x by single loads: faster while x is in a cache (docs/cpu-performance.md).
struct direct {
  template <class V> static void sums(const ell<V, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};
/// The same by gather instructions, for x beyond the second cache.
struct gathered {
  template <class V> static void sums(const ell<V, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

} // namespace furrow::ell_rows
