// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entries.hpp"

#include <vector>

/// The pieces that `assemble` is made of.
namespace furrow::io {

/// Rows [bounds[p], bounds[p + 1]) for part p, with nearly as many entries in each; `start` are offsets of rows.
template <class O> std::vector<index_t> balanced_rows(cview<O> start, index_t parts);

/// Takes a matrix with columns and values in rows. Where they may be in any order inside a row, sorts the rows that
/// need it and sums duplicates in their order. Writes a.row.
template <class O> void finish_rows(coo<double>& a, cview<O> start, const std::vector<index_t>& bounds, bool ascending);

/// Column-major values of an array file, a packed triangle where it is mirrored. Every position becomes an entry.
coo<double> assemble_dense(entries&& e);

/// Whether offsets of rows would be larger than the entries themselves by far: then entries are sorted by comparing.
inline bool is_hypersparse(const matrix_header& head) {
  return head.shape.rows > 65536 && head.shape.rows / 16 > head.stored;
}
coo<double> assemble_hypersparse(const listed_entries& e, entries& owned);

/// Bytes that reading and assembling a matrix with this head allocates at most at a time, without fixed costs.
double estimate_assembly(const matrix_header& head);

} // namespace furrow::io
