// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <cstdint>

namespace furrow {

/// to[r - first] <- number of entries before row r, for first <= r < last <= rows + 1, from rows that are not known to
/// be sorted: reads the entries that a search finds for these. False where one of them is outside of its place; when
/// parts that cover [0, rows + 1) all say yes, rows are sorted and inside of the matrix. Of std::int32_t and
/// std::int64_t.
template <class I> bool write_row_offsets(cview<std::int32_t> row, index_t rows, index_t first, index_t last, I* to);

/// row_ptr[r] <- number of entries before row r, for sorted rows. Parallel; one pass.
template <class I> host_array<I> offsets_of_rows(cview<std::int32_t> row, index_t rows);

template <class I> host_array<I> offsets_of_rows(const host_array<std::int32_t>& row, index_t rows) {
  return offsets_of_rows<I>(as_cview(row), rows);
}

/// The same from the lengths of rows. Parallel; two passes.
template <class I = index_t> host_array<I> offsets_of_lengths(cview<std::int32_t> length);

/// The same from other ones. Parallel; a copy.
template <class I> host_array<I> offsets_of(cview<std::int32_t> row_ptr) {
  host_array<I> own(row_ptr.size);
  cpu::for_each_range(row_ptr.size, 1 << 15, [&](index_t first, index_t last) {
    std::copy(row_ptr.begin() + first, row_ptr.begin() + last, own.begin() + first);
  });
  return own;
}

/// The same of what is to be stored: by its rows, their lengths or their offsets.
template <class I = index_t, class V> host_array<I> row_offsets(const coo<V>& a) {
  return offsets_of_rows<I>(a.row, a.shape.rows);
}
template <class I = index_t, class V> host_array<I> row_offsets(const measured_coo<V>& a) {
  return offsets_of_lengths<I>(a.row_length);
}
template <class I = index_t, class V> host_array<I> row_offsets(const borrowed_rows<V>& a) {
  return offsets_of<I>(a.row_ptr);
}

/// Gives the row indices back, where there are some.
template <class Triplets> void drop_rows(Triplets& a) {
  if constexpr (requires { a.row = {}; }) a.row = {};
}

} // namespace furrow
