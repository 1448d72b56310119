// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Whether a row is diagonally dominant: |a_ii| >= sum over j != i of |a_ij|, but for the rounding of that sum, so that
/// the rows of a Laplacian, which tie, count alike in whatever order their entries are added.
FURROW_HD inline bool dominates(double size_of_diagonal, double sum_of_others) {
  return size_of_diagonal > 0 && size_of_diagonal >= (1 - 1e-12) * sum_of_others;
}

} // namespace furrow
