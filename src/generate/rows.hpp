// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/coo.hpp>

#include <concepts>
#include <vector>

namespace furrow {

/// A matrix row by row. `count` and `fill` may be called in any order from any thread.
/// shape()            rows and columns
/// count(i)           entries of row i
/// fill(i, col, val)  writes them, columns ascending
/// entries()          all entries, where a formula knows them (optional)
template <class R>
concept row_source = requires(const R& r, index_t i, std::int32_t* col, double* val) {
  { r.shape() } -> std::same_as<shape2>;
  { r.count(i) } -> std::convertible_to<index_t>;
  r.fill(i, col, val);
};

inline constexpr index_t rows_a_block = 4096;

/// begin[k]: entries of rows from `first_row` on before block k of them; the last element is the number up to
/// `last_row`.
template <row_source R> std::vector<index_t> offsets_of_blocks(const R& rows, index_t first_row, index_t last_row) {
  const index_t blocks = (last_row - first_row + rows_a_block - 1) / rows_a_block;
  std::vector<index_t> begin(static_cast<std::size_t>(blocks + 1), 0);
  cpu::for_each_range(blocks, 1, [&](index_t first, index_t last) {
    for (index_t b = first; b < last; ++b) {
      index_t total = 0;
      for (index_t i = first_row + b * rows_a_block, end = std::min(last_row, i + rows_a_block); i < end; ++i)
        total += rows.count(i);
      begin[b + 1] = total;
    }
  });
  for (index_t b = 0; b < blocks; ++b) begin[b + 1] += begin[b];
  return begin;
}

/// Entries of all rows.
template <row_source R> index_t count_entries(const R& rows) {
  if constexpr (requires { rows.entries(); }) return rows.entries();
  else return offsets_of_blocks(rows, 0, rows.shape().rows).back();
}

/// Rows [first_row, last_row), numbered from 0 on. Two passes over blocks of rows, counting and filling, both parallel;
/// allocates the triplets and eight bytes a block. The same bits for every number of threads.
template <row_source R> coo<double> assemble(const R& rows, index_t first_row, index_t last_row) {
  const auto begin = offsets_of_blocks(rows, first_row, last_row);
  const index_t nnz = begin.back(), blocks = static_cast<index_t>(begin.size()) - 1;
  coo<double> a{{last_row - first_row, rows.shape().cols},
                host_array<std::int32_t>(nnz),
                host_array<std::int32_t>(nnz),
                host_array<double>(nnz)};
  cpu::for_each_range(blocks, 1, [&](index_t first, index_t last) {
    for (index_t b = first; b < last; ++b) {
      index_t at = begin[b];
      for (index_t i = first_row + b * rows_a_block, end = std::min(last_row, i + rows_a_block); i < end; ++i) {
        const index_t length = rows.count(i);
        rows.fill(i, a.col.data() + at, a.val.data() + at);
        std::fill_n(a.row.data() + at, length, static_cast<std::int32_t>(i - first_row));
        at += length;
      }
    }
  });
  return a;
}

/// Entries of each of those rows.
template <row_source R> host_array<std::int32_t> lengths_of_rows(const R& rows, index_t first_row, index_t last_row) {
  host_array<std::int32_t> lengths(last_row - first_row);
  cpu::for_each_range(lengths.size(), rows_a_block, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) lengths[i] = static_cast<std::int32_t>(rows.count(first_row + i));
  });
  return lengths;
}

} // namespace furrow
