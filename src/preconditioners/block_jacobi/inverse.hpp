// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::block_jacobi_preconditioner {

/// Whether the lower triangle of a symmetric block of edge k, by rows, is that of a positive definite one: Cholesky.
bool is_definite(view<const double> block, index_t k, view<double> scratch);

/// block <- block^-1 by Gauss-Jordan with row pivots, in place, 2 k^3 operations; false, and the block is lost, where a
/// pivot is below 1e-14 of the largest entry. Takes 8 k bytes where k is above 64.
bool invert(view<double> block, index_t k);

} // namespace furrow::block_jacobi_preconditioner
