// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box_matrix.hpp"
#include "preconditioners/amg/levels.hpp"

namespace furrow::amg {

/// What the set-up asks of a level's matrix.
struct grid_survey {
  diagonal_extremes diagonal{};
  double gershgorin = 0;         ///< max over rows of sum |a_ij| / a_ii
  std::array<double, 3> along{}; ///< sum over rows of |sums of the entries one step along a direction|, a coupling
};

/// Parallel, one pass; the same bits for every number of threads.
grid_survey survey(const box_matrix& a);

} // namespace furrow::amg
