// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"

namespace furrow::lu {

/// P A P' = L L' of a symmetric matrix with a positive diagonal near 1, kept whole; null where a pivot says that it is
/// not positive definite, or nearly not. Left-looking by supernodes, whose panels are multiplied as dense matrices
/// (E. Ng, B. Peyton, Block sparse Cholesky algorithms on advanced uniprocessor computers, 1993); `place`: an
/// order that keeps the factor sparse, as `minimum_degree` has it. Half the entries and operations of L U, which the
/// pattern tells exactly: both limits are kept before anything is factored, by `fault::memory` and by a `refusal`.
std::unique_ptr<factors> factor_cholesky(const columns& a, const host_array<std::int32_t>& place, host_room budget,
                                         double operations = std::numeric_limits<double>::infinity());
/// The same in the order that is wished for, by which it takes the least time (`count_best_order`).
std::unique_ptr<factors> factor_cholesky(const columns& a, column_order& order, order_wish wish, host_room budget,
                                         double operations = std::numeric_limits<double>::infinity());

} // namespace furrow::lu
