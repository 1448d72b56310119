// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hyb.hpp"

#include "formats/padded.hpp"

namespace furrow {

/// Rows of hyb on the CPU, in place of `each_row`: the rows of ell as `Regular` adds them up, then the entries beyond
/// while the sums are in the first cache. Each row adds its entries in their order, so rows may be cut anywhere.
template <class Regular> struct hybrid_rows {
  template <class V> static void sums(const hyb<V, cview>& a, index_t first, index_t last, cview<V> x, V* out) {
    Regular::sums(a.regular, first, last, x, out);
    const auto& rest = a.rest;
    for (index_t k = entries_before(rest.row, first); k < rest.val.size && rest.row[k] < last;) {
      const std::int32_t row = rest.row[k];
      V sum{};
      for (; k < rest.val.size && rest.row[k] == row; ++k) sum += rest.val[k] * x[rest.col[k]];
      out[row - first] += sum;
    }
  }
};

} // namespace furrow
