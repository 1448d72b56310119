// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "blocks.hpp"
#include "factors.hpp"

#include <functional>

namespace furrow::lu {

/// Up to so many rows a block is kept as a dense matrix: of 67 rows an order alone takes as long as its factors.
inline constexpr index_t rows_of_small_blocks = 72;

/// Factors of each diagonal block, and the entries above the blocks as they are: what is solved block after block is
/// multiplied by them (T. A. Davis, E. Palamadai Natarajan, Algorithm 907: KLU, a direct sparse solver for circuit
/// simulation problems, 2010). Pivots come from within a block, as they do anyway: under it are zeros. `make`: factors
/// of a block of more rows than few, with at most so many operations; the others are factored by plain loops. Blocks
/// share the operations: each has what those before it have left, the larger ones first, and its part by entries at
/// least. `f`: of more than one block. Throws as `factor_sparse`.
std::unique_ptr<factors> factor_blocks(
    const columns& a, block_form f, const most_operations& operations,
    const std::function<std::unique_ptr<factors>(const columns& block, const most_operations& operations)>& make);

} // namespace furrow::lu
