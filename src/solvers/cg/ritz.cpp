// SPDX-License-Identifier: BSD-3-Clause
#include "ritz.hpp"

#include <algorithm>
#include <cmath>

namespace furrow {

void ritz_matrix::add(double alpha, double beta) {
  if (diagonal_.empty() && std::isfinite(alpha)) unit_ = std::ldexp(1.0, std::ilogb(alpha));
  alpha /= unit_;
  diagonal_.push_back(1 / alpha + beta_ / alpha_);
  beside_squared_.push_back(beta_ / (alpha_ * alpha_));
  alpha_ = alpha;
  beta_ = beta;
}

/// Pivots of T - x, by Sylvester's law as many negative ones as there are eigenvalues below x.
bool ritz_matrix::any_below(double x) const {
  double pivot = 1;
  for (std::size_t j = 0; j < diagonal_.size(); ++j) {
    pivot = diagonal_[j] - x - beside_squared_[j] / pivot;
    if (!(pivot > 0)) return true;
  }
  return false;
}
bool ritz_matrix::any_above(double x) const {
  double pivot = 1;
  for (std::size_t j = 0; j < diagonal_.size(); ++j) {
    pivot = x - diagonal_[j] - beside_squared_[j] / pivot;
    if (!(pivot > 0)) return true;
  }
  return false;
}

ritz_matrix::extremes ritz_matrix::eigenvalues() const {
  if (diagonal_.empty()) return {};
  const auto [least, most] = std::ranges::minmax(diagonal_);
  if (!(most < 1e150)) return {}; // the products below are finite, so that each step of a bisection ends nearer
  // An eigenvalue lies below the least and another one above the largest of the diagonal, none above three times that:
  // t_j,j+1^2 <= t_jj t_(j+1),(j+1) of a definite matrix.
  double low = most, high = 3 * most;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (any_above(middle) ? low : high) = middle;
  }
  const double largest = high;
  low = 1e-18 * most, high = least;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (any_below(middle) ? high : low) = middle;
  }
  return {high / unit_, largest / unit_};
}

} // namespace furrow
