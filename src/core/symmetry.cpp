// SPDX-License-Identifier: BSD-3-Clause
#include "symmetry.hpp"

#include "formats/csr/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

/// The value at (row, col), or 0.
template <class V> V at(const coo<V>& a, const host_array<index_t>& row_ptr, std::int32_t row, std::int32_t col) {
  const auto* first = a.col.data() + row_ptr[row];
  const auto* last = a.col.data() + row_ptr[row + 1];
  const auto* found = std::lower_bound(first, last, col);
  return found != last && *found == col ? a.val[found - a.col.data()] : V(0);
}

/// The root of the largest |A[i,k]| of each row.
template <class V> host_array<V> roots_of_rows(const coo<V>& a, const host_array<index_t>& row_ptr) {
  host_array<V> root(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      V largest{};
      for (index_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) largest = std::max(largest, std::abs(a.val[k]));
      root[i] = std::sqrt(largest);
    }
  });
  return root;
}

/// Position of the first entry, from `from` on, whose mirror differs, or nnz. Without `root` pairs are compared with
/// themselves alone.
template <class V>
index_t first_asymmetry(const coo<V>& a, const host_array<index_t>& row_ptr, index_t from, const host_array<V>& root) {
  std::atomic<index_t> first{a.nnz()};
  cpu::for_each_range(a.nnz() - from, 1 << 14, [&](index_t begin, index_t end) {
    for (index_t k = from + begin; k < from + end && k < first.load(std::memory_order_relaxed); ++k) {
      const std::int32_t i = a.row[k], j = a.col[k];
      const V size = root.empty() ? V(0) : root[i] * root[j];
      if (i == j || !differ(a.val[k], at(a, row_ptr, j, i), size)) continue;
      index_t seen = first.load();
      while (k < seen && !first.compare_exchange_weak(seen, k)) {
      }
      return;
    }
  });
  return first;
}

template <class V> index_t first_asymmetry(const coo<V>& a, const host_array<index_t>& row_ptr) {
  const index_t suspect = first_asymmetry(a, row_ptr, 0, host_array<V>{});
  if (suspect == a.nnz()) return suspect;
  return first_asymmetry(a, row_ptr, suspect, roots_of_rows(a, row_ptr));
}

} // namespace

template <class V> void check_symmetry(const coo<V>& a) {
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  const index_t k = first_asymmetry(a, row_ptr);
  if (k == a.nnz()) return;
  const std::int32_t i = a.row[k], j = a.col[k];
  throw error(fault::input,
              fmt::format("the matrix is not symmetric: A({}, {}) = {} but A({}, {}) = {}; the solver needs a "
                          "symmetric matrix: use the solver bicgstab, or assume_symmetric where the difference means "
                          "nothing",
                          i + 1, j + 1, a.val[k], j + 1, i + 1, at(a, row_ptr, j, i)));
}

template <class V> bool is_symmetric(const coo<V>& a) {
  if (a.shape.rows != a.shape.cols) return false;
  return first_asymmetry(a, offsets_of_rows<index_t>(a.row, a.shape.rows)) == a.nnz();
}

template void check_symmetry(const coo<double>&);
template void check_symmetry(const coo<float>&);
template bool is_symmetric(const coo<double>&);
template bool is_symmetric(const coo<float>&);

} // namespace furrow
