// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "backends/cpu/parallel.hpp"
#include "formats/collect_rows.hpp"
#include "formats/padded.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// Entries of each row. Parallel; one pass.
template <class V> host_array<std::int32_t> row_lengths(const coo<V>& a) {
  host_array<std::int32_t> length(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    index_t k = entries_before(as_cview(a.row), first);
    for (index_t r = first; r < last; ++r) {
      const index_t begin = k;
      while (k < a.nnz() && a.row[k] == r) ++k;
      length[r] = static_cast<std::int32_t>(k - begin);
    }
  });
  return length;
}

inline index_t longest(const host_array<std::int32_t>& length) {
  index_t most = 0;
  for (const std::int32_t n : length) most = std::max<index_t>(most, n);
  return most;
}

/// The first `width` entries of each row. Parallel; writes every place once.
template <class V> ell<V, host_array> to_ell(const coo<V>& a, index_t width) {
  const index_t rows = a.shape.rows, stride = padded_rows(rows), nnz = a.nnz();
  ell<V, host_array> result{a.shape, width, stride, host_array<std::int32_t>(width * stride),
                            host_array<V>(width * stride)};
  std::int32_t* const col = result.col.data();
  V* const val = result.val.data();
  // A few rows at a time, so that the lines that a row begins are still in a cache when the next row goes on.
  constexpr index_t together = 64;
  cpu::for_each_range(stride / 16, 16, [&](index_t first, index_t last) {
    for (index_t begin = first * 16; begin < last * 16; begin += together) {
      const index_t end = std::min(begin + together, last * 16);
      for (index_t k = 0; k < width; ++k) {
        std::fill(col + k * stride + begin, col + k * stride + end, -1);
        std::fill(val + k * stride + begin, val + k * stride + end, V(0));
      }
      index_t place = 0;
      for (index_t k = entries_before(as_cview(a.row), begin); k < nnz && a.row[k] < end; ++k) {
        place = k > 0 && a.row[k] == a.row[k - 1] ? place + 1 : 0;
        if (place >= width) continue;
        col[place * stride + a.row[k]] = a.col[k];
        val[place * stride + a.row[k]] = a.val[k];
      }
    }
  });
  return result;
}

/// Every row as wide as the longest.
template <class V> ell<V, host_array> to_ell(const coo<V>& a) { return to_ell(a, longest(row_lengths(a))); }

/// The entries without the padding. Parallel; two passes.
template <class V> coo<V> to_coo(const ell<V, host_array>& a) {
  return collect_rows<V>(a.shape, [&](index_t row, auto&& put) {
    for (index_t at = row; at < a.col.size() && a.col[at] >= 0; at += a.stride) put(a.col[at], a.val[at]);
  });
}

} // namespace furrow
