// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "backends/cpu/parallel.hpp"
#include "formats/collect_rows.hpp"
#include "formats/padded.hpp"

#include <furrow/coo.hpp>

#include <atomic>
#include <vector>

namespace furrow {

/// f(row, k) for the entries k of the rows [first, last), in their order.
template <class V, class F> void for_entries_of_rows(const coo<V>& a, index_t first, index_t last, F f) {
  const index_t stop = entries_before(as_cview(a.row), last);
  for (index_t k = entries_before(as_cview(a.row), first); k < stop; ++k) f(a.row[k], k);
}
template <class V, class F> void for_entries_of_rows(const borrowed_rows<V>& a, index_t first, index_t last, F f) {
  for (index_t r = first; r < last; ++r)
    for (index_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) f(static_cast<std::int32_t>(r), k);
}

/// The distinct values of column minus row, ascending. Parallel; one pass, and a byte for each diagonal there could be.
template <class Triplets> host_array<std::int32_t> diagonals_of(const Triplets& a) {
  const index_t lowest = 1 - a.shape.rows;
  std::vector<char> seen(static_cast<std::size_t>(a.nnz() ? a.shape.rows + a.shape.cols - 1 : 0), 0);
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for_entries_of_rows(a, first, last, [&](std::int32_t row, index_t k) {
      std::atomic_ref(seen[index_t(a.col[k]) - row - lowest]).store(1, std::memory_order_relaxed);
    });
  });
  host_array<std::int32_t> offset(std::count(seen.begin(), seen.end(), 1));
  index_t d = 0;
  for (std::size_t at = 0; at < seen.size(); ++at)
    if (seen[at]) offset[d++] = static_cast<std::int32_t>(index_t(at) + lowest);
  return offset;
}

/// Of a `coo` or of `borrowed_rows`. Parallel; writes every place once and every entry over it.
template <class Triplets> auto to_dia(const Triplets& a) {
  using V = std::remove_cvref_t<decltype(a.val[0])>;
  auto offset = diagonals_of(a);
  const index_t rows = a.shape.rows, stride = padded_rows(rows), diagonals = offset.size();
  dia<V, host_array> result{a.shape, stride, std::move(offset), host_array<V>(diagonals * stride)};
  cpu::for_each_range(rows, 1 << 12, [&](index_t first, index_t last) {
    const index_t end = last == rows ? stride : last;
    for (index_t d = 0; d < diagonals; ++d) {
      V* const column = result.val.data() + d * stride;
      std::fill(column + first, column + end, V(0));
    }
    index_t d = 0, row_before = -1;
    for_entries_of_rows(a, first, last, [&](std::int32_t row, index_t k) {
      if (row != row_before) d = 0; // the diagonals of a row come in the order of its columns
      row_before = row;
      while (result.offset[d] < a.col[k] - row) ++d;
      result.val[d * stride + row] = a.val[k];
    });
  });
  return result;
}

/// The entries that are not 0. Parallel; two passes.
template <class V> coo<V> to_coo(const dia<V, host_array>& a) {
  return collect_rows<V>(a.shape, [&](index_t row, auto&& put) {
    for (index_t d = 0; d < a.offset.size(); ++d)
      if (const V v = a.val[d * a.stride + row]; v != V(0)) put(row + a.offset[d], v);
  });
}

} // namespace furrow
