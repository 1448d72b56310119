// SPDX-License-Identifier: BSD-3-Clause
#include "row_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::kit {
namespace {
double worst_of_all = 0;
}

double worst_row_error() { return worst_of_all; }
void note_row_error(double error) { worst_of_all = std::max(worst_of_all, error); }

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

template <class V> dot_reference reference_dot(cview<V> u, cview<V> y) {
  long double dot = 0, size = 0;
  for (index_t i = 0; i < y.size; ++i) {
    const long double product = static_cast<long double>(u[i]) * y[i];
    dot += product;
    size += std::fabs(product);
  }
  return {dot, static_cast<long double>(y.size + 2) * 0x1p-53L * size};
}

template reference reference_product(const coo<double>&, double, cview<double>, double, cview<double>);
template reference reference_product(const coo<float>&, float, cview<float>, float, cview<float>);
template double row_error(const reference&, cview<double>);
template double row_error(const reference&, cview<float>);
template dot_reference reference_dot(cview<double>, cview<double>);
template dot_reference reference_dot(cview<float>, cview<float>);

} // namespace furrow::kit
