// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/elimination.hpp"

namespace furrow::ilu_preconditioner {

/// ILU(k): L U = A at all places whose level is at most `level`; entries of A have level 0, and eliminating entry (i,
/// k) by row k fills (i, j) with level(i, k) + level(k, j) + 1. Row by row, entries by ascending columns: the same bits
/// on every run. `shift`: see `factoriser`. Serial. Throws `fault::memory` before it takes what cannot be had. Y. Saad,
/// Iterative Methods for Sparse Linear Systems, 2nd ed., algorithms 10.4 and 10.6.
lu_factors factorise_by_levels(row_view<double> a, index_t level, double shift = 0);

} // namespace furrow::ilu_preconditioner
