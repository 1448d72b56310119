// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/check.hpp"

#include <furrow/coo.hpp>
#include <furrow/device.hpp>

#include <algorithm>
#include <limits>

namespace furrow::cli::spmv_bench {

/// `copies` of `a` on the diagonal of one matrix: a large matrix that is like a small one. Throws `fault::usage` where
/// there would be more rows or columns than 2^31 - 1, `fault::memory` where there is no room.
template <class V> coo<V> on_diagonal(const coo<V>& a, index_t copies) {
  const index_t most = std::numeric_limits<std::int32_t>::max();
  check(std::max(a.shape.rows, a.shape.cols) <= most / copies, fault::usage,
        "--copies {} makes more than 2147483647 rows or columns: choose fewer", copies);
  const index_t nnz = a.nnz();
  check(double(8 + sizeof(V)) * double(nnz) * double(copies) < 0.5 * double(available_host_memory()), fault::memory,
        "--copies {} does not fit into the memory: choose fewer", copies);
  coo<V> all{{a.shape.rows * copies, a.shape.cols * copies},
             host_array<std::int32_t>(nnz * copies),
             host_array<std::int32_t>(nnz * copies),
             host_array<V>(nnz * copies)};
  for (index_t c = 0; c < copies; ++c)
    for (index_t k = 0; k < nnz; ++k) {
      all.row[c * nnz + k] = static_cast<std::int32_t>(a.row[k] + c * a.shape.rows);
      all.col[c * nnz + k] = static_cast<std::int32_t>(a.col[k] + c * a.shape.cols);
      all.val[c * nnz + k] = a.val[k];
    }
  return all;
}

} // namespace furrow::cli::spmv_bench
