// SPDX-License-Identifier: BSD-3-Clause
#include "transpose_comparison.hpp"

#include "core/symmetry.hpp"
#include "formats/csr/convert.hpp"

#include <atomic>

namespace furrow {

transpose_comparison compare_with_transpose(const coo<double>& a) {
  if (a.shape.rows != a.shape.cols) return {};
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  std::atomic<bool> pattern = true, skew = true;
  cpu::for_each_range(a.nnz(), 1 << 14, [&](index_t begin, index_t end) {
    for (index_t k = begin; k < end && (pattern || skew); ++k) {
      const auto* first = a.col.data() + row_ptr[a.col[k]];
      const auto* last = a.col.data() + row_ptr[a.col[k] + 1];
      const auto* found = std::lower_bound(first, last, a.row[k]);
      const bool there = found != last && *found == a.row[k];
      if (!there) pattern = false;
      if ((there ? a.val[found - a.col.data()] : 0.0) != -a.val[k]) skew = false;
    }
  });
  return {pattern, is_symmetric(a), skew};
}

} // namespace furrow
