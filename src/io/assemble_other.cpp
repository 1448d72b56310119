// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>

namespace furrow::io {

coo<double> assemble_dense(entries&& e) {
  const index_t rows = e.head.shape.rows, cols = e.head.shape.cols, n = rows * cols;
  const bool mirrored = is_mirrored(e.head), skew = e.head.symmetry == matrix_header::symmetry::skew_symmetric;
  coo<double> a;
  a.shape = e.head.shape;
  a.val = host_array<double>(n);
  if (skew)
    for (index_t i = 0; i < rows; ++i) a.val[i * cols + i] = 0;
  std::vector<index_t> before{0};
  for (const block& b : e.blocks) before.push_back(before.back() + b.count);
  cpu::for_each_task(static_cast<index_t>(e.blocks.size()), [&](index_t p) {
    const block& b = e.blocks[static_cast<std::size_t>(p)];
    // Where value number before[p] of the file stands: column j, row i.
    index_t i, j = 0, k = before[static_cast<std::size_t>(p)];
    const auto top = [&] { return mirrored ? j + skew : 0; }; // first row of column j in the file
    if (!mirrored && rows > 0) j = k / rows, k %= rows;
    else
      for (; k >= rows - top() && j < cols; ++j) k -= rows - top();
    i = top() + k;
    for (index_t at = b.first; at < b.first + b.count; ++at, ++i) {
      for (; i >= rows; i = top()) ++j;
      a.val[i * cols + j] = e.val[at];
      if (mirrored && i != j) a.val[j * cols + i] = skew ? -e.val[at] : e.val[at];
    }
  });
  e = {};
  a.row = host_array<std::int32_t>(n);
  a.col = host_array<std::int32_t>(n);
  cpu::for_each_range(cols > 0 ? rows : 0, 256, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i)
      for (index_t j = 0; j < cols; ++j) {
        a.row[i * cols + j] = static_cast<std::int32_t>(i);
        a.col[i * cols + j] = static_cast<std::int32_t>(j);
      }
  });
  return a;
}

coo<double> assemble_hypersparse(const listed_entries& e, entries& owned) {
  struct triplet {
    std::int32_t row, col;
    double val;
  };
  std::vector<triplet> all;
  all.reserve(static_cast<std::size_t>(is_mirrored(e.head) ? 2 * e.head.stored - e.diagonal : e.head.stored));
  const bool skew = e.head.symmetry == matrix_header::symmetry::skew_symmetric;
  for (const block& b : e.blocks)
    for (index_t k = b.first; k < b.first + b.count; ++k) {
      const double v = e.val.empty() ? 1.0 : e.val[k];
      all.push_back({e.row[k], e.col[k], v});
      if (is_mirrored(e.head) && e.row[k] != e.col[k]) all.push_back({e.col[k], e.row[k], skew ? -v : v});
    }
  coo<double> a;
  a.shape = e.head.shape;
  owned = {};
  std::stable_sort(all.begin(), all.end(),
                   [](const triplet& x, const triplet& y) { return x.row != y.row ? x.row < y.row : x.col < y.col; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool same = kept > 0 && all[kept - 1].row == all[k].row && all[kept - 1].col == all[k].col;
    if (same) all[kept - 1].val += all[k].val;
    else all[kept++] = all[k];
  }
  const auto n = static_cast<index_t>(kept);
  a.row = host_array<std::int32_t>(n), a.col = host_array<std::int32_t>(n), a.val = host_array<double>(n);
  for (index_t k = 0; k < n; ++k) {
    const triplet& one = all[static_cast<std::size_t>(k)];
    a.row[k] = one.row, a.col[k] = one.col, a.val[k] = one.val;
  }
  return a;
}

} // namespace furrow::io
