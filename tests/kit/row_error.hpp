// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow::kit {

/// Largest row error that this process has seen; GPU receipts quote it.
double worst_row_error();
void note_row_error(double error);

/// alpha A x + beta y in long double, beside what rounding may change.
struct reference {
  std::vector<long double> value;
  std::vector<long double> bound; ///< (row length + 2) u (|alpha| sum|a_ij x_j| + |beta y_i|)
};

/// alpha == 0 does not read x, beta == 0 does not read y: they may hold anything.
template <class V> reference reference_product(const coo<V>& a, V alpha, cview<V> x, V beta, cview<V> y) {
  const auto rows = static_cast<std::size_t>(a.shape.rows);
  std::vector<long double> sum(rows), size(rows), length(rows);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const auto r = static_cast<std::size_t>(a.row[k]);
    length[r] += 1;
    if (alpha == V(0)) continue;
    const long double product = static_cast<long double>(a.val[k]) * x[a.col[k]];
    sum[r] += product;
    size[r] += std::fabs(product);
  }
  const long double unit = std::numeric_limits<V>::epsilon() / 2;
  reference result{std::vector<long double>(rows), std::vector<long double>(rows)};
  for (std::size_t r = 0; r < rows; ++r) {
    const long double old = beta == V(0) ? 0 : static_cast<long double>(beta) * y[static_cast<index_t>(r)];
    result.value[r] = alpha * sum[r] + old;
    result.bound[r] = (length[r] + 2) * unit * (std::fabs(static_cast<long double>(alpha)) * size[r] + std::fabs(old));
  }
  return result;
}

/// Largest |y - reference| / bound over the rows: at most 1 passes. No absolute floor: a row with the bound 0 must be
/// exact. A NaN counts as infinite.
template <class V> double row_error(const reference& expected, cview<V> y) {
  double worst = 0;
  for (index_t r = 0; r < y.size; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const long double error = std::fabs(y[r] - expected.value[i]);
    double ratio = std::numeric_limits<double>::infinity();
    if (error == 0) ratio = 0;
    else if (expected.bound[i] > 0 && !std::isnan(error)) ratio = static_cast<double>(error / expected.bound[i]);
    worst = std::max(worst, ratio);
  }
  note_row_error(worst);
  return worst;
}

} // namespace furrow::kit
