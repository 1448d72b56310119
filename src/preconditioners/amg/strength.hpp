// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <furrow/storage.hpp>

namespace furrow::amg {

/// A matrix of nodes, each of `block` unknowns that follow each other; block 1: a node is a row.
struct node_matrix {
  row_view<double> a;
  int block = 1;
  index_t nodes() const { return a.shape.rows / block; }
};

/// Which nodes are strongly coupled, without the nodes themselves: |A_ij| >= theta sqrt(|A_ii| |A_jj|), Frobenius norms
/// of blocks. weight = |A_ij| / sqrt(|A_ii| |A_jj|). Neighbours ascend.
template <template <class> class Array> struct coupling_graph {
  Array<index_t> first; ///< nodes + 1
  Array<std::int32_t> to;
  Array<float> weight;

  FURROW_HD bool alone(index_t i) const { return first[i] == first[i + 1]; }

  template <template <class> class To, class F> coupling_graph<To> map(F f) const {
    return {f(first), f(to), f(weight)};
  }
};
using graph_view = coupling_graph<cview>;

struct strong_graph : coupling_graph<host_array> {
  index_t nodes() const { return first.size() - 1; }
};

/// theta > 0. Parallel, two passes over A, one where nodes have several unknowns; entries are scaled before they are
/// squared, so that no range is too large. P. Vanek, J. Mandel, M. Brezina, Algebraic multigrid by smoothed
/// aggregation, 1996.
strong_graph strong_couplings(const node_matrix& m, double theta);
/// The same of rows that are a part of a matrix, whose columns lie before those of others: a node is a row, and
/// `scale`, |A_jj|^-1/2, is of all columns. Those from `below` on are no neighbours.
strong_graph strong_couplings(row_view<double> a, const host_array<double>& scale, double theta, index_t below);

/// The same of the sizes in both directions, (|a_ij| + |a_ji|) / 2, of a matrix that is not symmetric; a node is a row.
/// back: A'. Parallel, two passes over both.
strong_graph couplings_either_way(row_view<double> a, row_view<double> back, double theta);

} // namespace furrow::amg
