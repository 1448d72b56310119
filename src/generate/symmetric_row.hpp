// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "randomness.hpp"

#include <algorithm>
#include <cmath>

namespace furrow {

/// Sorts the `count` columns of row i, of which one is i, and gives them values: A[i,j] = A[j,i] in [-1, 1) by the
/// places alone, and a diagonal of one more than the sum of the others' sizes: symmetric, positive definite.
inline void dominant_row(const randomness& random, index_t i, std::int32_t* col, double* val, index_t count) {
  std::sort(col, col + count);
  double sum = 1;
  index_t diagonal = 0;
  for (index_t k = 0; k < count; ++k) {
    const index_t j = col[k];
    if (j == i) {
      diagonal = k;
      continue;
    }
    val[k] = 2 * unit(random.at(std::min(i, j), std::max(i, j))) - 1;
    sum += std::abs(val[k]);
  }
  val[diagonal] = sum;
}

} // namespace furrow
