// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bcsr.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/blocks.hpp"
#include "core/row_offsets.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// Block rows that a task converts at least.
inline constexpr index_t block_row_grain = 1 << 10;

/// Two parallel passes: blocks are counted, then filled.
template <class V, class I, int K, class Triplets, class Rows>
bcsr<V, I, host_array> blocks_of(const Triplets& a, Rows rows_of) {
  const index_t rows = blocks_over(a.shape.rows, K);
  bcsr<V, I, host_array> m{a.shape, K, host_array<I>(rows + 1), {}, {}};
  const auto col = as_cview(a.col);
  m.block_ptr[0] = 0;
  cpu::for_each_range(rows, block_row_grain, [&](index_t first, index_t last) {
    walk_blocks<K>(
        rows_of, col, first, last, [&](index_t r) { m.block_ptr[r + 1] = 0; },
        [&](index_t r, std::int32_t) { ++m.block_ptr[r + 1]; }, [](index_t, int, int) {});
  });
  for (index_t r = 0; r < rows; ++r) m.block_ptr[r + 1] += m.block_ptr[r];
  const index_t blocks = m.block_ptr[rows];
  m.block = host_array<std::int32_t>(blocks);
  m.val = host_array<V>(blocks * K * K);
  cpu::for_each_range(rows, block_row_grain, [&](index_t first, index_t last) {
    index_t at = index_t(m.block_ptr[first]) - 1;
    walk_blocks<K>(
        rows_of, col, first, last, [](index_t) {},
        [&](index_t, std::int32_t c) {
          m.block[++at] = c;
          std::fill_n(m.val.data() + at * K * K, K * K, V(0));
        },
        [&](index_t k, int i, int j) { m.val[at * K * K + j * K + i] = a.val[k]; });
  });
  return m;
}

/// Holds `a` and the result.
template <class I, int K, class V> bcsr<V, I, host_array> to_bcsr(const coo<V>& a) {
  return blocks_of<V, I, K>(a, rows_by_index{as_cview(a.row)});
}

/// The same for an edge that is known at run time only.
template <class I, class V> bcsr<V, I, host_array> to_bcsr(const coo<V>& a, index_t edge) {
  return with_edge(edge, [&](auto k) { return to_bcsr<I, k>(a); });
}
template <class I, class V> bcsr<V, I, host_array> to_bcsr(measured_coo<V> a, index_t edge) {
  const auto row_ptr = row_offsets<I>(a);
  drop_rows(a);
  return with_edge(edge, [&](auto k) { return blocks_of<V, I, k>(a, rows_by_offset<I>{as_cview(row_ptr)}); });
}
template <class I, class V> bcsr<V, I, host_array> to_bcsr(const borrowed_rows<V>& a, index_t edge) {
  return with_edge(edge, [&](auto k) { return blocks_of<V, I, k>(a, rows_by_offset<std::int32_t>{a.row_ptr}); });
}

/// The places that are not zero, as triplets: stored zeros of the matrix that this was made of are gone.
template <class V, class I> coo<V> to_coo(const bcsr<V, I, host_array>& a) {
  const index_t k = a.edge, rows = blocks_over(a.shape.rows, k);
  const auto each_entry = [&](index_t r, auto&& found) { // row by row
    for (index_t i = 0; i < k; ++i)
      for (index_t b = a.block_ptr[r]; b < a.block_ptr[r + 1]; ++b)
        for (index_t j = 0; j < k; ++j)
          if (const V value = a.val[(b * k + j) * k + i]; value != V(0)) found(r * k + i, a.block[b] * k + j, value);
  };
  host_array<index_t> begin(rows + 1);
  begin[0] = 0;
  cpu::for_each_range(rows, block_row_grain, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r) {
      index_t entries = 0;
      each_entry(r, [&](index_t, index_t, V) { ++entries; });
      begin[r + 1] = entries;
    }
  });
  for (index_t r = 0; r < rows; ++r) begin[r + 1] += begin[r];
  const index_t nnz = begin[rows];
  coo<V> result{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_range(rows, block_row_grain, [&](index_t first, index_t last) {
    index_t at = begin[first];
    for (index_t r = first; r < last; ++r)
      each_entry(r, [&](index_t row, index_t col, V value) {
        result.row[at] = static_cast<std::int32_t>(row);
        result.col[at] = static_cast<std::int32_t>(col);
        result.val[at++] = value;
      });
  });
  return result;
}

} // namespace furrow
