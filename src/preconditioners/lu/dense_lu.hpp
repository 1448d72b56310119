// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "panel_product.hpp"

namespace furrow::lu {

/// Pivots smaller than `least` are made as large as `instead`, with their sign, and counted.
struct small_pivots {
  double least, instead;
  index_t raised = 0;
};

/// P A = L U of a panel of h rows and w <= h columns, in place, as LAPACK's dgetrf leaves it: U with its diagonal, and
/// under it L without its ones, whose rows have changed places as those of A have: row j with row pivots[j] - 1, the
/// one of the largest element of its column. Columns are halved, down to 16: nearly all of w^2 (h - w / 3) operations
/// are products of panels (S. Toledo, Locality of reference in LU decomposition with partial pivoting, 1997). Parallel
/// as `subtract_product` is, the same bits for every number of threads. Returns the first column without a pivot, or
/// -1; with `small` always that.
index_t factor_dense_panel(panel a, index_t h, index_t w, int* pivots, small_pivots* small = nullptr);

/// B <- L^-1 B of n columns; L of k x k has ones on its diagonal, whatever is stored there. Likewise.
void solve_unit_lower(panel l, index_t k, panel b, index_t n);

} // namespace furrow::lu
