// SPDX-License-Identifier: BSD-3-Clause
#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace furrow::kit {

std::vector<long double> cholesky_solve(const coo<double>& a, cview<double> b) {
  const auto n = static_cast<std::size_t>(a.shape.rows);
  std::vector<std::vector<long double>> l(n, std::vector<long double>(n));
  for (index_t k = 0; k < a.nnz(); ++k)
    l[static_cast<std::size_t>(a.row[k])][static_cast<std::size_t>(a.col[k])] = a.val[k];
  std::vector<long double> x(b.begin(), b.end());
  for (std::size_t j = 0; j < n; ++j) { // A = L L'
    for (std::size_t k = 0; k < j; ++k) l[j][j] -= l[j][k] * l[j][k];
    if (!(l[j][j] > 0)) throw std::domain_error("not positive definite");
    l[j][j] = std::sqrt(l[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) l[i][j] -= l[i][k] * l[j][k];
      l[i][j] /= l[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) { // L y = b
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i][k] * x[k];
    x[i] /= l[i][i];
  }
  for (std::size_t i = n; i-- > 0;) { // L' x = y
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
  }
  return x;
}

template <class V> residual true_residual(const coo<V>& a, cview<V> b, cview<V> x) {
  const auto n = static_cast<std::size_t>(a.shape.rows);
  std::vector<long double> r(b.begin(), b.end()), size(n), length(n);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const auto i = static_cast<std::size_t>(a.row[k]);
    const long double product = static_cast<long double>(a.val[k]) * x[a.col[k]];
    r[i] -= product;
    size[i] += std::fabs(product);
    length[i] += 1;
  }
  residual result;
  const long double unit = std::numeric_limits<V>::epsilon() / 2;
  for (std::size_t i = 0; i < n; ++i) {
    const long double bi = b[static_cast<index_t>(i)];
    const long double slack = (length[i] + 2) * unit * (size[i] + std::fabs(bi));
    result.norm += r[i] * r[i];
    result.norm_b += bi * bi;
    result.rounding += slack * slack;
  }
  result.norm = std::sqrt(result.norm);
  result.norm_b = std::sqrt(result.norm_b);
  result.rounding = std::sqrt(result.rounding);
  return result;
}

template <class V> long double relative_error(cview<V> x, const std::vector<long double>& y) {
  long double error = 0, size = 0;
  for (index_t i = 0; i < x.size; ++i) {
    const long double yi = y[static_cast<std::size_t>(i)];
    error = std::max(error, std::fabs(x[i] - yi));
    size = std::max(size, std::fabs(yi));
  }
  return size > 0 ? error / size : error;
}

template residual true_residual(const coo<double>&, cview<double>, cview<double>);
template residual true_residual(const coo<float>&, cview<float>, cview<float>);
template long double relative_error(cview<double>, const std::vector<long double>&);
template long double relative_error(cview<float>, const std::vector<long double>&);

} // namespace furrow::kit
