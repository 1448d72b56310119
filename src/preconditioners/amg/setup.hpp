// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hierarchy.hpp"
#include "matrix/rows.hpp"
#include "near_null.hpp"

#include <array>

namespace furrow::amg {

/// Unknowns of a node: the largest K from 2 to 6 whose aligned K x K blocks fill as well as any and have at most 1.3
/// places an entry; otherwise 1. By [K], the blocks that have entries (`stats::blocks`), or counted here.
int unknowns_of_a_node(index_t rows, index_t nnz, const std::array<index_t, 9>& blocks);
int unknowns_of_a_node(row_view<double> a, cview<std::int32_t> row_of_entry);

/// Places of aligned blocks of K x K that have entries, by the entry: 1 where they are full.
double fill_of_blocks(row_view<double> a, cview<std::int32_t> row_of_entry, int k);

/// The hierarchy of smoothed aggregation for a symmetric A with a positive diagonal. Levels until at most 512 rows are
/// left, or one shrinks by less than 1.25. Throws a `refusal` where A is proved to be indefinite.
template <class W> hierarchy<W> smoothed_aggregation(row_view<double> a, int block);
/// The same with vectors that A nearly maps to zero: smaller levels have nodes of as many unknowns as there are
/// vectors.
template <class W> hierarchy<W> smoothed_aggregation(row_view<double> a, int block, near_null vectors);

/// The hierarchy of unsmoothed aggregation, for the same matrices: P is 1 where a row is in an aggregate, of rows in
/// pairs three times over, so that P'A P has no more entries a row than A. It wants a K-cycle.
template <class W> hierarchy<W> pairwise_aggregation(row_view<double> a);

/// The hierarchy of smoothed aggregation for a matrix that is not symmetric, with a positive diagonal: P = (I - 4/3
/// D^-1 A_F) P0 and R = P0' (I - 4/3 A_F D^-1), with the D of `nonsymmetric_kit::look`. Strong couplings are those in
/// either direction. M. Sala, R. S. Tuminaro, A new Petrov-Galerkin smoothed aggregation preconditioner for
/// nonsymmetric linear systems, SIAM J. Sci. Comput. 31, 2008.
template <class W> hierarchy<W> nonsymmetric_aggregation(row_view<double> a);

} // namespace furrow::amg
