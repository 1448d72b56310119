// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

namespace furrow {

/// Triplets, the one form in which matrices travel between readers, generators and formats.
/// Entry k is A[row[k], col[k]] = val[k]. **Sorted by (row, col), without duplicates**; entries with the value 0 are
/// entries. Readers, generators and `assemble` guarantee this, functions that take a matrix check it
/// (`check_triplets`), formats rely on it.
template <class V> struct coo {
  shape2 shape;                 ///< both sides at most 2^31 - 1
  host_array<std::int32_t> row; ///< 0 <= row[k] < shape.rows
  host_array<std::int32_t> col; ///< 0 <= col[k] < shape.cols
  host_array<V> val;

  index_t nnz() const { return val.size(); }
};

/// The same with the number of entries of each row, which spares whoever sorts rows a pass over all row indices.
template <class V> struct measured_coo : coo<V> { cview<std::int32_t> row_length; };

/// Entries with the same promises as compressed rows in arrays of somebody else: those of row r are
/// [row_ptr[r], row_ptr[r + 1]).
template <class V> struct borrowed_rows {
  shape2 shape;
  cview<std::int32_t> row_ptr; ///< rows + 1 offsets, from 0 on
  cview<std::int32_t> col;
  cview<V> val;

  index_t nnz() const { return val.size; }
};

/// Throws `fault::input` unless `a` keeps what is promised above, and says where it does not: "triplet 17 is (5, 9) in
/// a matrix of 4 x 4". The public functions that take a matrix begin with this. Parallel; one pass over the indices.
template <class V> void check_triplets(const coo<V>& a);

/// The same matrix with values of another precision. Values beyond the range of `To`, and those that would vanish in it
/// or lose digits while they matter to their row and column, throw `fault::input`, which names the first of them;
/// throws as `check_triplets`. Takes `a` to reuse its index arrays.
template <class To, class From> coo<To> convert_values(coo<From>&& a);

} // namespace furrow
