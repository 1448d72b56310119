// SPDX-License-Identifier: BSD-3-Clause
#include "matrices.hpp"

#include <algorithm>

namespace furrow::kit {

coo<double> assemble(shape2 shape, std::vector<triplet> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const triplet& a, const triplet& b) { return a.row != b.row ? a.row < b.row : a.col < b.col; });
  std::vector<triplet> unique;
  for (const triplet& t : entries) {
    if (!unique.empty() && unique.back().row == t.row && unique.back().col == t.col) unique.back().value += t.value;
    else unique.push_back(t);
  }
  const auto nnz = static_cast<index_t>(unique.size());
  coo<double> a{shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<double>(nnz)};
  for (index_t k = 0; k < nnz; ++k) {
    const triplet& t = unique[static_cast<std::size_t>(k)];
    a.row[k] = static_cast<std::int32_t>(t.row);
    a.col[k] = static_cast<std::int32_t>(t.col);
    a.val[k] = t.value;
  }
  return a;
}

std::string violation(const coo<double>& a) {
  if (a.row.size() != a.nnz() || a.col.size() != a.nnz()) return "the arrays differ in length";
  for (index_t k = 0; k < a.nnz(); ++k) {
    const auto at = " at entry " + std::to_string(k);
    if (a.row[k] < 0 || a.row[k] >= a.shape.rows) return "row out of range" + at;
    if (a.col[k] < 0 || a.col[k] >= a.shape.cols) return "column out of range" + at;
    if (k == 0) continue;
    if (a.row[k] < a.row[k - 1]) return "rows not sorted" + at;
    if (a.row[k] == a.row[k - 1] && a.col[k] <= a.col[k - 1]) return "columns not ascending" + at;
  }
  return {};
}

coo<double> laplacian(index_t nx, index_t ny, index_t nz, bool periodic, double shift) {
  const index_t size[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny}, n = nx * ny * nz;
  std::vector<triplet> entries;
  entries.reserve(static_cast<std::size_t>(7 * n));
  for (index_t i = 0; i < n; ++i) {
    const index_t at[3] = {i % nx, i / nx % ny, i / (nx * ny)};
    for (int d = 0; d < 3; ++d) {
      if (size[d] == 1) continue;
      entries.push_back({i, i, 2});
      if (at[d] > 0) entries.push_back({i, i - stride[d], -1});
      else if (periodic) entries.push_back({i, i + (size[d] - 1) * stride[d], -1});
      if (at[d] + 1 < size[d]) entries.push_back({i, i + stride[d], -1});
      else if (periodic) entries.push_back({i, i - (size[d] - 1) * stride[d], -1});
    }
    if (shift != 0) entries.push_back({i, i, shift});
  }
  return assemble({n, n}, std::move(entries));
}

coo<double> diagonal(std::vector<double> values) {
  std::vector<triplet> entries;
  for (std::size_t i = 0; i < values.size(); ++i)
    entries.push_back({static_cast<index_t>(i), static_cast<index_t>(i), values[i]});
  const auto n = static_cast<index_t>(values.size());
  return assemble({n, n}, std::move(entries));
}

} // namespace furrow::kit
