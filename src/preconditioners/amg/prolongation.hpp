// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "aggregates.hpp"

namespace furrow::amg {

/// What becomes of entries of P that add up to 0: they are kept for the sake of other values to come.
enum class zeros { left_out, kept };

/// P = (I - omega D^-1 A_F) P0. P0: a constant for each unknown of a node over each aggregate. A_F is A without its
/// weak entries, which are added to the diagonal; a node whose diagonal would fall below 0.2 of what it is stays whole.
/// A node without aggregate has empty rows. omega 0: P0 itself. Sorted; parallel, one pass over A; the same bits for
/// any number of threads.
row_matrix<double> smoothed_prolongation(const node_matrix& m, const strong_graph& strong, const aggregates& g,
                                         const host_array<double>& inverse, double omega,
                                         zeros of_sums = zeros::left_out);

/// Of a diagonal entry, that lumping must leave.
inline constexpr double least_share = 0.2;

} // namespace furrow::amg
