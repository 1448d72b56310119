// SPDX-License-Identifier: BSD-3-Clause
#include "symmetry.hpp"

#include "set_up_part.hpp"

#include "formats/csr/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace furrow {
namespace {

/// The value at (row, col), or 0.
template <class V> V at(const coo<V>& a, const host_array<index_t>& row_ptr, std::int32_t row, std::int32_t col) {
  const auto* first = a.col.data() + row_ptr[row];
  const auto* last = a.col.data() + row_ptr[row + 1];
  const auto* found = std::lower_bound(first, last, col);
  return found != last && *found == col ? a.val[found - a.col.data()] : V(0);
}

/// Looks up the mirrors of entries above the diagonal in the order in which they are stored: in each row below the
/// columns that are asked for ascend, so the search goes on where it ended. 4 bytes a row.
template <class V> class mirrors {
public:
  /// Without `root` pairs are compared with themselves alone.
  mirrors(const coo<V>& a, const host_array<index_t>& row_ptr, const host_array<V>& root)
      : a_(a), row_ptr_(row_ptr), root_(root), next_(a.shape.rows, -1) {}

  /// Whether A[j,i] is stored, and is the value of entry k at (i, j) but for rounding.
  bool has(index_t k) {
    const std::int32_t i = a_.row[k], j = a_.col[k];
    const index_t first = row_ptr_[j], last = row_ptr_[j + 1];
    const std::int32_t* const col = a_.col.data();
    index_t at = next_[j] < 0 ? std::lower_bound(col + first, col + last, i) - col : first + next_[j];
    while (at < last && col[at] < i) ++at;
    next_[j] = static_cast<std::int32_t>(at + 1 - first);
    return at < last && col[at] == i && !differ(a_.val[k], a_.val[at], root_.empty() ? V(0) : root_[i] * root_[j]);
  }

private:
  const coo<V>& a_;
  const host_array<index_t>& row_ptr_;
  const host_array<V>& root_;
  host_array<std::int32_t> next_; ///< of each row, where the search goes on; -1 before the first
};

/// Whether each entry above the diagonal has its mirror and there are as many below it: then A is symmetric, and half
/// of the entries have been looked up. Otherwise it may still be.
template <class V>
bool has_all_mirrors(const coo<V>& a, const host_array<index_t>& row_ptr, const host_array<V>& root) {
  std::atomic<bool> all = true;
  std::atomic<index_t> more_above = 0;
  const index_t grain = std::max(a.shape.rows, set_up_part); // a thread notes a number a row
  cpu::for_each_range(a.nnz(), grain, [&](index_t begin, index_t end) {
    mirrors<V> mirror(a, row_ptr, root);
    index_t more = 0;
    for (index_t k = begin; k < end; ++k) {
      if (a.col[k] < a.row[k]) --more;
      else if (a.col[k] > a.row[k]) {
        ++more;
        if (mirror.has(k)) continue;
        all = false;
        return;
      }
    }
    more_above += more;
  });
  return all && more_above == 0;
}

/// The root of the largest |A[i,k]| of each row.
template <class V> host_array<V> roots_of_rows(const coo<V>& a, const host_array<index_t>& row_ptr) {
  host_array<V> root(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 15, [&](index_t begin, index_t end) {
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
  cpu::for_each_range(a.nnz() - from, set_up_part, [&](index_t begin, index_t end) {
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
  if (has_all_mirrors(a, row_ptr, host_array<V>{})) return a.nnz();
  const host_array<V> root = roots_of_rows(a, row_ptr);
  if (has_all_mirrors(a, row_ptr, root)) return a.nnz();
  const index_t suspect = first_asymmetry(a, row_ptr, 0, host_array<V>{});
  return suspect == a.nnz() ? suspect : first_asymmetry(a, row_ptr, suspect, root);
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
  return a.shape.rows == a.shape.cols && is_symmetric(a, offsets_of_rows<index_t>(a.row, a.shape.rows));
}
template <class V> bool is_symmetric(const coo<V>& a, const host_array<index_t>& row_ptr) {
  return a.shape.rows == a.shape.cols && first_asymmetry(a, row_ptr) == a.nnz();
}

template void check_symmetry(const coo<double>&);
template void check_symmetry(const coo<float>&);
template bool is_symmetric(const coo<double>&);
template bool is_symmetric(const coo<float>&);
template bool is_symmetric(const coo<double>&, const host_array<index_t>&);
template bool is_symmetric(const coo<float>&, const host_array<index_t>&);

} // namespace furrow
