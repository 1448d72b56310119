// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <array>
#include <string>

/// Which blocks a matrix gets.
namespace furrow::bcsr_format {

/// Bytes of a matrix of `nnz` entries in `blocks` blocks of edge K.
double stored_bytes(shape2 shape, index_t nnz, precision p, index_t edge, double blocks);

/// The edge with the fewest bytes among those whose blocks were counted; 0 where none was.
index_t fewest_bytes(shape2 shape, index_t nnz, precision p, const std::array<index_t, 9>& blocks);

/// The edge that `parameters` name, 0 for the format's own choice. Throws `fault::usage`.
index_t asked_edge(std::string_view parameters);

layout lay_out(const stats& s, precision p, std::string_view parameters);

/// The edge for `a`: the one asked for, or the one with the fewest bytes, or 2 where no block size pays.
template <class V> index_t edge_for(const coo<V>& a, std::string_view parameters);
template <class V> index_t edge_for(const borrowed_rows<V>& a, std::string_view parameters);
index_t edge_for(const stats& s, precision p, std::string_view parameters);
/// The same as parameters, where blocks were counted.
std::string settle(const stats& s, precision p, std::string_view parameters);

} // namespace furrow::bcsr_format
