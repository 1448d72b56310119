// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box_layout.hpp"
#include "preconditioners/amg/levels.hpp"

namespace furrow::amg {

class box_matrix;

/// What the set-up asks of a level's matrix.
struct grid_survey {
  diagonal_extremes diagonal{};
  double gershgorin = 0;         ///< max over rows of sum |a_ij| / a_ii
  std::array<double, 3> along{}; ///< sum over rows of |sums of the entries one step along a direction|, a coupling
};

/// A point at an end has one neighbour: sums as if each had two.
inline void weigh_ends(grid_survey& all, const box& b) {
  for (int axis = 0; axis < 3; ++axis)
    if (const double points = double(b.points[axis]); points > 1) all.along[axis] *= points / (points - 1);
}

/// Parallel, one pass; the same bits for every number of threads.
grid_survey survey(const box_matrix& a);

} // namespace furrow::amg
