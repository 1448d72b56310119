// SPDX-License-Identifier: BSD-3-Clause
#include "block_size.hpp"

#include "bcsr.hpp"

#include "core/blocks.hpp"
#include "core/parameters.hpp"

#include <fmt/format.h>

#include <limits>
#include <string>

namespace furrow::bcsr_format {

double stored_bytes(shape2 shape, index_t nnz, precision p, index_t edge, double blocks) {
  const double offset = nnz <= std::numeric_limits<std::int32_t>::max() ? 4 : 8;
  return (4 + bytes_of(p) * double(edge * edge)) * blocks + offset * double(blocks_over(shape.rows, edge) + 1);
}

index_t fewest_bytes(shape2 shape, index_t nnz, precision p, const std::array<index_t, 9>& blocks) {
  index_t best = 0;
  double fewest = std::numeric_limits<double>::infinity();
  for (index_t k = least_edge; k <= most_edge; ++k) {
    if (blocks[k] < 0) continue;
    const double bytes = stored_bytes(shape, nnz, p, k, double(blocks[k]));
    if (bytes < fewest) best = k;
    fewest = std::min(fewest, bytes);
  }
  return best;
}

index_t asked_edge(std::string_view parameters) {
  return entry_parameters("bcsr[:K]", parameters).whole(0, 0, least_edge, most_edge);
}

layout lay_out(const stats& s, precision p, std::string_view parameters) {
  const index_t asked = asked_edge(parameters);
  const auto nnz = double(s.nnz);
  // Only the sizes are known, or nobody has counted what was asked for: the most that is not refused.
  if (!s.lengths_known() || (asked && s.blocks[asked] == surpassed)) {
    const index_t k = asked ? asked : least_edge;
    return {stored_bytes(s.shape, s.nnz, p, k, most_fill * nnz / double(k * k)), most_fill * nnz, {}, false};
  }
  const index_t k = asked ? asked : fewest_bytes(s.shape, s.nnz, p, s.blocks);
  if (k == 0)
    return {0, 0,
            fmt::format("bcsr: blocks of every size from {} to {} would have more than {} places an entry; use csr",
                        least_edge, most_edge, most_fill)};
  if (s.blocks[k] < 0)
    return {0, 0,
            fmt::format("bcsr: blocks of {0} x {0} would have more than {1} places an entry; use csr", k, most_fill)};
  const auto blocks = double(s.blocks[k]), places = blocks * double(k * k);
  layout l{stored_bytes(s.shape, s.nnz, p, k, blocks), places};
  if (places > most_fill * nnz)
    l.refusal = fmt::format("bcsr: blocks of {0} x {0} would have {1:.3g} places an entry, {2} are the most; use csr",
                            k, places / nnz, most_fill);
  return l;
}

namespace {

/// count(): the blocks of each edge.
template <class V, class Triplets, class Count>
index_t edge_of(const Triplets& a, std::string_view parameters, Count count) {
  if (const index_t asked = asked_edge(parameters)) return asked;
  const index_t best = fewest_bytes(a.shape, a.nnz(), precision_of<V>, count());
  return best ? best : least_edge;
}

} // namespace

template <class V> index_t edge_for(const coo<V>& a, std::string_view parameters) {
  return edge_of<V>(a, parameters, [&] { return count_blocks(a.shape, as_cview(a.row), as_cview(a.col)); });
}
template <class V> index_t edge_for(const borrowed_rows<V>& a, std::string_view parameters) {
  return edge_of<V>(a, parameters, [&] { return count_blocks_of_rows(a.shape, a.row_ptr, a.col); });
}

index_t edge_for(const stats& s, precision p, std::string_view parameters) {
  if (const index_t asked = asked_edge(parameters)) return asked;
  const index_t best = fewest_bytes(s.shape, s.nnz, p, s.blocks);
  return best ? best : least_edge;
}

std::string settle(const stats& s, precision p, std::string_view parameters) {
  const bool counted = s.nnz > 0 && s.blocks[least_edge] != 0; // entries lie in some block
  return counted ? std::to_string(edge_for(s, p, parameters)) : std::string(parameters);
}

template index_t edge_for(const coo<double>&, std::string_view);
template index_t edge_for(const coo<float>&, std::string_view);
template index_t edge_for(const borrowed_rows<double>&, std::string_view);
template index_t edge_for(const borrowed_rows<float>&, std::string_view);

} // namespace furrow::bcsr_format
