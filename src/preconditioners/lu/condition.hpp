// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "norm_estimate.hpp"

#include <furrow/coo.hpp>
#include <furrow/operator.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow::lu {

/// Of A, by `solve(x, transposed)`: x <- A^-1 x, or A'^-1 x, in place. Some ten solves and a pass over the entries.
template <class V, class Solve> condition_numbers condition_of(const coo<V>& a, Solve solve) {
  condition_numbers known;
  const auto n = static_cast<std::size_t>(a.shape.rows);
  if (n == 0) return known;
  std::vector<double> row_sum(n, 0.0), col_sum(n, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const double size = std::abs(double(a.val[k]));
    row_sum[static_cast<std::size_t>(a.row[k])] += size;
    col_sum[static_cast<std::size_t>(a.col[k])] += size;
  }
  const auto by_row_sums = [&](double* x) {
    for (std::size_t i = 0; i < n; ++i) x[i] *= row_sum[i];
  };
  known.norm_1 = *std::ranges::max_element(col_sum) *
                 norm_1_estimate(
                     a.shape.rows, [&](double* x) { solve(x, false); }, [&](double* x) { solve(x, true); });
  // | |A^-1| |A| |_inf = |A^-1 D|_inf = |D A'^-1|_1 with the row sums D of |A|.
  known.skeel = norm_1_estimate(
      a.shape.rows, [&](double* x) { solve(x, true), by_row_sums(x); },
      [&](double* x) { by_row_sums(x), solve(x, false); });
  return known;
}

} // namespace furrow::lu
