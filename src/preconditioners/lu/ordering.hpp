// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"

#include "core/host_room.hpp"

namespace furrow::lu {

/// An order of the columns that keeps the Cholesky factor of A + A' sparse: column j stands at place j of the answer.
/// By SuperLU's multiple minimum degree (J. W. H. Liu, Modification of the minimum-degree algorithm by multiple
/// elimination, 1985). Hears `stops_set_up` at every sixteenth node and every round of nodes. Takes at most `budget`
/// bytes; throws `fault::memory` beyond, and `fault::usage` in a build without SuperLU.
host_array<std::int32_t> minimum_degree(const columns& a, host_room budget);

} // namespace furrow::lu
