// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dense.hpp"

#include "backends/cpu/parallel.hpp"

namespace furrow {

template <class V> dense_matrix<V, host_array> to_dense(const coo<V>& a) {
  dense_matrix<V, host_array> result{a.shape, host_array<V>(a.shape.rows * a.shape.cols)};
  cpu::for_each_range(result.val.size(), 1 << 16, [&](index_t first, index_t last) {
    std::fill(result.val.data() + first, result.val.data() + last, V(0));
  });
  cpu::for_each_range(a.nnz(), 1 << 14, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) result.val[a.row[k] * a.shape.cols + a.col[k]] = a.val[k];
  });
  return result;
}

/// The elements that are not 0: what were entries with the value 0 is not known any more.
template <class V> coo<V> to_coo(const dense_matrix<V, host_array>& a) {
  index_t entries = 0;
  for (const V& v : a.val) entries += v != V(0);
  coo<V> result{a.shape, host_array<std::int32_t>(entries), host_array<std::int32_t>(entries), host_array<V>(entries)};
  index_t k = 0;
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t j = 0; j < a.shape.cols; ++j) {
      const V v = a.val[i * a.shape.cols + j];
      if (v == V(0)) continue;
      result.row[k] = static_cast<std::int32_t>(i);
      result.col[k] = static_cast<std::int32_t>(j);
      result.val[k++] = v;
    }
  return result;
}

} // namespace furrow
