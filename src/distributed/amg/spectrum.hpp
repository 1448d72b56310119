// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/rows_of_rank.hpp"

namespace furrow::amg {

/// `largest_eigenvalue` of D^-1 A over all ranks: Gershgorin's bound where rows are weakly dominant, otherwise 1.1
/// times the largest Ritz value of a Lanczos run from a vector that is hashed from the numbers of the rows, whose dots
/// are summed in the order of the ranks. All ranks call it and get the same bits.
double largest_eigenvalue_on_ranks(communicator& c, const rows_of_rank<double>& a, const host_array<double>& inverse);

} // namespace furrow::amg
