// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_blocks.hpp"
#include "matrix/rows_on_gpu.hpp"

namespace furrow {
namespace gpu_bcsr {

/// Offset and block columns of block row r.
template <int K, class V, class I> struct put_blocks {
  csr<V, index_t, cview> a;
  const index_t* first;
  I* block_ptr;
  std::int32_t* block;
  FURROW_HD void operator()(index_t r) const {
    const index_t at = first[r];
    block_ptr[r] = static_cast<I>(at);
    if (r * K >= a.shape.rows) return; // behind the last
    std::int32_t* const to = block + at;
    gpu::each_block<K>(a.shape.rows, a.row_ptr.data, a.col.data, r, [to](index_t n, std::int32_t c) { to[n] = c; });
  }
};

/// Entry k of row i goes to its block.
template <int K, class V> struct put_entry {
  csr<V, index_t, cview> a;
  const index_t* first;
  const std::int32_t* block;
  V* val;
  FURROW_HD void operator()(index_t i, index_t k) const {
    const std::int32_t c = a.col[k] / K;
    index_t low = first[i / K], high = first[i / K + 1] - 1;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (block[middle] < c) low = middle + 1;
      else high = middle;
    }
    val[low * K * K + a.col[k] % K * K + i % K] = a.val[k];
  }
};

} // namespace gpu_bcsr

/// As `to_bcsr`, on the current GPU. blocks: how many there are, or -1, and then it waits for their number.
template <class I, int K, class V> bcsr<V, I, gpu_array> to_bcsr(const rows_on_gpu<V>& a, index_t blocks = -1) {
  const index_t rows = blocks_over(a.shape.rows, K);
  gpu_array<index_t> first(rows + 1);
  gpu::for_each(rows, gpu::count_blocks_of_row<K>{a.shape.rows, a.row_ptr.data(), a.col.data(), first.data()});
  if (blocks < 0) blocks = gpu::to_offsets(first);
  else gpu::enqueue_offsets(first);
  bcsr<V, I, gpu_array> m{a.shape, K, gpu_array<I>(rows + 1), gpu_array<std::int32_t>(blocks),
                          gpu_array<V>(blocks * K * K)};
  gpu::for_each(rows + 1, gpu_bcsr::put_blocks<K, V, I>{a.view(), first.data(), m.block_ptr.data(), m.block.data()});
  gpu::fill_bytes(m.val, 0);
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data(), a.nnz(),
                      gpu_bcsr::put_entry<K, V>{a.view(), first.data(), m.block.data(), m.val.data()});
  return m;
}

} // namespace furrow
