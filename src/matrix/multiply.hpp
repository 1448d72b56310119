// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

#include <functional>

namespace furrow {

/// A B, sorted; a.shape.cols == b.shape.rows. Entries whose addends cancel stay, as zeros. Sums in double, each in the
/// order of the entries of A's row and then of B's: |C - A B| <= (products of the entry + 1) u |A| |B|. Parallel by
/// rows; 16 bytes a column of B and thread beside the result. The same bits for every number of threads.
template <class V> row_matrix<V> multiply(row_view<V> a, row_view<V> b);

/// R A P, sorted: the coarse matrix of Galerkin where R = P'. T = A P lies beside it while it is made: 12 bytes an
/// entry of T, 16 a row at most; 16 bytes a column of P and thread. Sums in double, in the order of the entries of R's
/// row, then of T's. Zeros stay. The same bits for every number of threads.
/// `ask`, where there is one, is called on the caller's thread before each piece that it makes; what it throws ends the
/// product, and comes out.
template <class V>
row_matrix<V> triple_product(row_view<V> r, row_view<V> a, row_view<V> p, const std::function<void()>& ask = {});

} // namespace furrow
