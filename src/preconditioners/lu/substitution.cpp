// SPDX-License-Identifier: BSD-3-Clause
#include "substitution.hpp"

#include "blocks.hpp"
#include "inverse.hpp"

#include <algorithm>
#include <vector>

namespace furrow::lu {
namespace {

/// Substitution begins with a row of one entry.
template <class V> bool may_be_triangle(const coo<V>& a) {
  const index_t n = a.shape.rows;
  if (n < 2 || a.nnz() - n > n * (n - 1) / 2) return false;
  std::vector<index_t> entries(at(n), 0);
  for (index_t k = 0; k < a.nnz(); ++k) entries[at(a.row[k])] += a.val[k] != 0;
  return std::ranges::find(entries, 1) != entries.end();
}

template <class V> bool is_triangle(const coo<V>& a) {
  if (!may_be_triangle(a)) return false;
  const columns c = scale_and_sort(a).a;
  const transversal rows = transversal_of(c);
  return rows.without < 0 && find_blocks(c, rows).blocks() == c.n;
}

} // namespace

template <class V> std::unique_ptr<any_preconditioner<V>> substitution(const coo<V>& a) {
  if (!is_triangle(a)) return nullptr;
  return std::make_unique<inverse<V>>(a, triangle);
}

template std::unique_ptr<any_preconditioner<double>> substitution(const coo<double>&);
template std::unique_ptr<any_preconditioner<float>> substitution(const coo<float>&);

} // namespace furrow::lu
