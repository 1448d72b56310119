// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/row_offsets.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <utility>

namespace furrow {

/// Compressed rows in host memory, borrowed: row i holds the entries row_ptr[i] to row_ptr[i + 1] - 1, columns
/// ascending.
template <class V> struct row_view {
  shape2 shape;
  cview<index_t> row_ptr; ///< shape.rows + 1 offsets
  cview<std::int32_t> col;
  cview<V> val;

  index_t nnz() const { return val.size; }
  index_t begin(index_t i) const { return row_ptr[i]; }
  index_t end(index_t i) const { return row_ptr[i + 1]; }
};

/// Compressed rows that own their arrays.
template <class V> struct row_matrix {
  shape2 shape;
  host_array<index_t> row_ptr;
  host_array<std::int32_t> col;
  host_array<V> val;

  index_t nnz() const { return val.size(); }
  row_view<V> view() const { return {shape, as_cview(row_ptr), as_cview(col), as_cview(val)}; }
};

/// Triplets seen as compressed rows: columns and values stay where they are, 8 bytes a row are added.
template <class V> class rows_of_triplets {
public:
  explicit rows_of_triplets(const coo<V>& a) : a_(a), row_ptr_(offsets_of_rows<index_t>(a.row, a.shape.rows)) {}
  row_view<V> view() const { return {a_.shape, as_cview(row_ptr_), as_cview(a_.col), as_cview(a_.val)}; }

private:
  const coo<V>& a_;
  host_array<index_t> row_ptr_;
};

/// The same matrix, its triplets taken apart.
template <class V> row_matrix<V> to_rows(coo<V>&& a) {
  return {a.shape, offsets_of_rows<index_t>(a.row, a.shape.rows), std::move(a.col), std::move(a.val)};
}

template <class V> coo<V> to_triplets(row_matrix<V>&& a) {
  host_array<std::int32_t> row(a.nnz());
  for (index_t i = 0; i < a.shape.rows; ++i)
    std::fill(row.data() + a.row_ptr[i], row.data() + a.row_ptr[i + 1], static_cast<std::int32_t>(i));
  return {a.shape, std::move(row), std::move(a.col), std::move(a.val)};
}

} // namespace furrow
