// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

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
host_array<index_t> offsets_of_lengths(cview<std::int32_t> length);

} // namespace furrow
