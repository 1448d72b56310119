// SPDX-License-Identifier: BSD-3-Clause
#include "touched.hpp"

#include "backends/cpu/parallel.hpp"

#include <atomic>

namespace furrow {

template <class V> index_t touched_columns(const coo<V>& a) {
  host_array<char> touched(a.shape.cols, 0);
  cpu::for_each_range(a.nnz(), 1 << 16, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      const std::atomic_ref<char> one(touched[a.col[k]]);
      if (!one.load(std::memory_order_relaxed)) one.store(1, std::memory_order_relaxed);
    }
  });
  return std::count(touched.begin(), touched.end(), 1);
}

template index_t touched_columns(const coo<double>&);
template index_t touched_columns(const coo<float>&);

} // namespace furrow
