// SPDX-License-Identifier: BSD-3-Clause
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/symmetry.hpp"

namespace furrow {
namespace gpu_symmetry {

/// As `roots_of_rows` on the host.
template <class V> struct root_of_row {
  csr<V, index_t, cview> a;
  V* root;
  FURROW_HD void operator()(index_t i) const {
    V largest{};
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const V size = a.val[k] < 0 ? -a.val[k] : a.val[k];
      if (largest < size) largest = size;
    }
    root[i] = sqrt(largest);
  }
};

/// Entry k of row i; without `root` pairs are compared with themselves alone.
template <class V> struct compare_with_mirror {
  csr<V, index_t, cview> a;
  const V* root;
  int* differs;
  FURROW_HD void operator()(index_t i, index_t k) const {
    const index_t j = a.col[k];
    if (i == j || *differs) return;
    index_t low = a.row_ptr[j], high = a.row_ptr[j + 1];
    const index_t end = high;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (a.col[middle] < i) low = middle + 1;
      else high = middle;
    }
    const V other = low < end && a.col[low] == i ? a.val[low] : V(0);
    if (differ(a.val[k], other, root ? root[i] * root[j] : V(0))) *differs = 1;
  }
};

template <class V> bool differs_anywhere(const rows_on_gpu<V>& a, const gpu_array<V>& root) {
  gpu_array<int> differs(1);
  gpu::fill_bytes(differs, 0);
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data(), a.nnz(),
                      compare_with_mirror<V>{a.view(), root.empty() ? nullptr : root.data(), differs.data()});
  return gpu::fetch(differs.data()) != 0;
}

} // namespace gpu_symmetry

template <class V> bool is_symmetric(const rows_on_gpu<V>& a) {
  if (a.shape.rows != a.shape.cols) return false;
  if (!gpu_symmetry::differs_anywhere(a, gpu_array<V>())) return true;
  gpu_array<V> root(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_symmetry::root_of_row<V>{a.view(), root.data()});
  return !gpu_symmetry::differs_anywhere(a, root);
}

template bool is_symmetric(const rows_on_gpu<double>&);
template bool is_symmetric(const rows_on_gpu<float>&);

} // namespace furrow
