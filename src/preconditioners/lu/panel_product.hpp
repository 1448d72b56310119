// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::lu {

/// A dense matrix by columns, `stride` numbers from one to the next.
struct panel {
  double* at;
  index_t stride;
};

/// C -= A B' with C of m x n, A of m x k and B of n x k. `lower`: the places of C above its diagonal hold anything
/// afterwards. C shares no memory with A or B. 2 m n k operations, half of them where lower and m = n; blocks of A and
/// B are copied together first, 8 bytes an element. Parallel from some 4e6 operations on; each element is one sum in
/// the order of k for each 256 of them, the same bits for every number of threads. Hears `stops_set_up` every some 10
/// ms.
void subtract_product(panel c, panel a, panel b, index_t m, index_t n, index_t k, bool lower);

/// C -= A B with B of k x n, otherwise the same.
void subtract_straight_product(panel c, panel a, panel b, index_t m, index_t n, index_t k);

/// L of L L' = the lower triangle of the first w columns of a panel of h rows, and what is below times L'^-1, in place.
/// By blocks of 32 columns; h w^2 operations. Returns the first column whose pivot is not above `least`, or -1.
index_t factor_panel(panel a, index_t h, index_t w, double least);

} // namespace furrow::lu
