// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <cstdint>
#include <optional>

namespace furrow {

/// row_ptr[r] <- number of entries before row r, for sorted row indices. Parallel; one pass.
template <class I> host_array<I> offsets_of_rows(cview<std::int32_t> row, index_t rows) {
  host_array<I> row_ptr(rows + 1);
  const index_t nnz = row.size;
  // Entry k writes the offsets of all rows after the row of entry k - 1, up to and including its own.
  const auto fill = [&](index_t k) {
    const index_t first = k == 0 ? 0 : row[k - 1] + 1;
    const index_t last = k == nnz ? rows : row[k];
    for (index_t r = first; r <= last; ++r) row_ptr[r] = static_cast<I>(k);
  };
  cpu::for_each_range(nnz + 1, 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) fill(k);
  });
  return row_ptr;
}

template <class I> host_array<I> offsets_of_rows(const host_array<std::int32_t>& row, index_t rows) {
  return offsets_of_rows<I>(as_cview(row), rows);
}

/// The same of rows that are not known to be sorted: nothing where one is outside of the matrix or comes after a later
/// one. Of std::int32_t and std::int64_t.
template <class I> std::optional<host_array<I>> checked_offsets_of_rows(cview<std::int32_t> row, index_t rows);

} // namespace furrow
