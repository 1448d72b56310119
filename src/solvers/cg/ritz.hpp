// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

namespace furrow {

/// The tridiagonal matrix that the coefficients of conjugate gradients make, whose eigenvalues, the Ritz values,
/// approach those of M A from within:
///
///   t_jj = 1 / alpha_j + beta_(j-1) / alpha_(j-1),   t_j,j+1 = sqrt(beta_j) / alpha_j
///
/// G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed., 11.3.
class ritz_matrix {
public:
  /// What follows has nothing to do with what was.
  void start_again() { beta_ = 0; }
  /// The next coefficients, both positive.
  void add(double alpha, double beta);

  struct extremes {
    double smallest = 0, largest = 0; ///< 0 where there are no coefficients, or they leave the range of f64
  };
  /// To 1 % each, by bisection. Cost: some 40 passes over the coefficients.
  extremes eigenvalues() const;

private:
  bool any_below(double x) const;
  bool any_above(double x) const;

  /// Times the power of two of the first alpha: of a matrix around 1e-300 and no M the squares would vanish.
  std::vector<double> diagonal_, beside_squared_; ///< beside_squared_[j]: t_(j-1),j squared
  double alpha_ = 1, beta_ = 0, unit_ = 1;
};

} // namespace furrow
