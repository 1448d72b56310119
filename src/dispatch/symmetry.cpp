// SPDX-License-Identifier: BSD-3-Clause
#include "symmetry.hpp"

#include "formats/csr/convert.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

/// Values of one pair may differ by this many units in the last place: programs that assemble both triangles round
/// twice.
constexpr int tolerated_units = 64;

/// The value at (row, col), or 0.
template <class V> V at(const coo<V>& a, const host_array<index_t>& row_ptr, std::int32_t row, std::int32_t col) {
  const auto* first = a.col.data() + row_ptr[row];
  const auto* last = a.col.data() + row_ptr[row + 1];
  const auto* found = std::lower_bound(first, last, col);
  return found != last && *found == col ? a.val[found - a.col.data()] : V(0);
}

template <class V> bool differ(V one, V other) {
  const V size = std::max(std::abs(one), std::abs(other));
  return !(std::abs(one - other) <= tolerated_units * std::numeric_limits<V>::epsilon() * size);
}

/// Position of the first entry whose mirror differs, or nnz.
template <class V> index_t first_asymmetry(const coo<V>& a, const host_array<index_t>& row_ptr) {
  std::atomic<index_t> first{a.nnz()};
  cpu::for_each_range(a.nnz(), 1 << 14, [&](index_t begin, index_t end) {
    for (index_t k = begin; k < end && k < first.load(std::memory_order_relaxed); ++k) {
      if (a.row[k] == a.col[k] || !differ(a.val[k], at(a, row_ptr, a.col[k], a.row[k]))) continue;
      index_t seen = first.load();
      while (k < seen && !first.compare_exchange_weak(seen, k)) {
      }
      return;
    }
  });
  return first;
}

} // namespace

template <class V> void check_symmetry(const coo<V>& a) {
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  const index_t k = first_asymmetry(a, row_ptr);
  if (k == a.nnz()) return;
  const std::int32_t i = a.row[k], j = a.col[k];
  throw error(fault::input,
              fmt::format("the matrix is not symmetric: A({}, {}) = {} but A({}, {}) = {}; conjugate gradients need a "
                          "symmetric matrix",
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
