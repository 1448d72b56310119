// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/row_offsets.hpp"
#include "formats/collect_rows.hpp"
#include "formats/padded.hpp"
#include "formats/put_columns.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <atomic>

namespace furrow {

/// Entries of each row. Parallel; one pass.
template <class V> host_array<std::int32_t> row_lengths(const coo<V>& a) {
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  host_array<std::int32_t> length(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 15, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r) length[r] = static_cast<std::int32_t>(row_ptr[r + 1] - row_ptr[r]);
  });
  return length;
}

inline index_t longest_row(const host_array<index_t>& row_ptr) {
  std::atomic<index_t> longest = 0;
  cpu::for_each_range(row_ptr.size() - 1, 1 << 15, [&](index_t first, index_t last) {
    index_t most = 0;
    for (index_t r = first; r < last; ++r) most = std::max(most, row_ptr[r + 1] - row_ptr[r]);
    for (index_t seen = longest; seen < most && !longest.compare_exchange_weak(seen, most);) {
    }
  });
  return longest;
}

/// The columns of an ell of the first `width` entries of each row. Parallel; writes every place once.
template <class T>
host_array<T> ell_columns(const host_array<index_t>& row_ptr, index_t width, cview<T> from, T padding) {
  const index_t rows = row_ptr.size() - 1, stride = padded_rows(rows);
  host_array<T> to(width * stride);
  // A few rows at a time, so that the lines that a row begins are still in a cache when the next column goes on.
  constexpr index_t together = 64;
  cpu::for_each_range((stride + together - 1) / together, 4, [&](index_t first, index_t last) {
    row_group of;
    for (index_t begin = first * together; begin < std::min(stride, last * together); begin += together) {
      of.rows = std::min(together, stride - begin);
      for (index_t i = 0; i < of.rows; ++i) {
        const index_t row = std::min(begin + i, rows);
        of.begin[i] = row_ptr[row];
        of.length[i] = row < rows ? static_cast<std::int32_t>(row_ptr[row + 1] - row_ptr[row]) : 0;
      }
      put_columns(of, static_cast<std::int32_t>(width), stride, from.data, padding, to.data() + begin);
    }
  });
  return to;
}

/// The first `width` entries of each row.
template <class V> ell<V, host_array> to_ell(const coo<V>& a, index_t width) {
  const auto row_ptr = offsets_of_rows<index_t>(a.row, a.shape.rows);
  return {a.shape, width, padded_rows(a.shape.rows), ell_columns(row_ptr, width, as_cview(a.col), std::int32_t(-1)),
          ell_columns(row_ptr, width, as_cview(a.val), V(0))};
}

/// Every row as wide as the longest. Takes a `coo` apart, so that only one array is there twice.
template <class V, class Triplets> ell<V, host_array> ell_of(Triplets a) {
  const auto row_ptr = row_offsets(a);
  drop_rows(a);
  ell<V, host_array> made{a.shape, longest_row(row_ptr), padded_rows(a.shape.rows), {}, {}};
  made.col = ell_columns(row_ptr, made.width, as_cview(a.col), std::int32_t(-1));
  a.col = {};
  made.val = ell_columns(row_ptr, made.width, as_cview(a.val), V(0));
  return made;
}
template <class V> ell<V, host_array> to_ell(coo<V> a) { return ell_of<V>(std::move(a)); }
template <class V> ell<V, host_array> to_ell(measured_coo<V> a) { return ell_of<V>(std::move(a)); }
template <class V> ell<V, host_array> to_ell(borrowed_rows<V> a) { return ell_of<V>(std::move(a)); }

/// The entries without the padding. Parallel; two passes.
template <class V> coo<V> to_coo(const ell<V, host_array>& a) {
  return collect_rows<V>(a.shape, [&](index_t row, auto&& put) {
    for (index_t at = row; at < a.col.size() && a.col[at] >= 0; at += a.stride) put(a.col[at], a.val[at]);
  });
}

} // namespace furrow
