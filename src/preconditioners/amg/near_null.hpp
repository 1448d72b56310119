// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "aggregates.hpp"

namespace furrow::amg {

/// Vectors that A nearly maps to zero, which the smaller matrices have to know: `count` of them, element q of row i at
/// [i count + q].
struct near_null {
  int count = 0;
  host_array<double> of_rows;
};

/// Motions of rigid bodies: 3 of points in a plane, 6 in space. They are shifts along each direction and turns about
/// the middle of the points, which are scaled to the size of shifts. points: `dims` coordinates each, 2 or 3, for nodes
/// of as many unknowns. Sums in the order of the points: the same bits for any number of threads.
near_null rigid_motions(cview<double> points, int dims);
constexpr int rigid_motions_in(int dims) { return dims == 2 ? 3 : 6; }

/// P0 of these vectors over aggregates. Over each aggregate they are made orthonormal, by Gram and Schmidt twice; the
/// factors are the vectors of the smaller level: P0 times them is what was given, to rounding, in each row that is in
/// an aggregate. A vector of which less than 1e-10 of its norm is left over an aggregate depends on those before it:
/// its column is zero there, and so is its row of the smaller vectors. Parallel by aggregates.
struct tentative {
  host_array<double> rows; ///< as `near_null::of_rows`
  near_null coarse;
  /// Whether column q of an aggregate is zero.
  bool is_lost(index_t aggregate, int q) const {
    return coarse.of_rows[(aggregate * coarse.count + q) * coarse.count + q] == 0;
  }
};
tentative orthonormal_over(const aggregates& g, int block, const near_null& vectors);

/// P = (I - omega D^-1 A_F) P0, as of `smoothed_prolongation`, with a column for each vector of an aggregate; omega 0:
/// P0 itself. A weak entry does not go to the diagonal of its row: its node is taken to move as the aggregate of that
/// row does. So P B_c = B - omega D^-1 A B, and is B where A maps B to zero. Nodes whose aggregate has lost a vector
/// keep weak entries as they are. Zeros stay. The same bits for any number of threads.
row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega, const near_null& vectors,
                                         const tentative& p0);

/// Rows of P'A P whose columns of P are zero get a diagonal entry, that of the largest beside it in its node: they are
/// coupled to nothing, and what comes to them is 0.
void secure_lost_rows(row_matrix<double>& coarse, const tentative& p0);

} // namespace furrow::amg
