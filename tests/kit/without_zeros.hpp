// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow::kit {

/// The entries that are no zeros, in their order.
template <class V> coo<V> without_zeros(const coo<V>& a) {
  coo<V> result = a;
  index_t kept = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == V(0)) continue;
    result.row[kept] = a.row[k];
    result.col[kept] = a.col[k];
    result.val[kept++] = a.val[k];
  }
  result.row.extend(kept);
  result.col.extend(kept);
  result.val.extend(kept);
  return result;
}

} // namespace furrow::kit
