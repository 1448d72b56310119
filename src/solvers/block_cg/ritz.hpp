// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "small.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace furrow::block_cg {

/// What the coefficients of the steps say of M A: in the basis of the Z = M Q it is T = B'D B, D the blocks S'A S of
/// the steps and B unit upper triangular with -beta beside its diagonal, since Z = S - S_old beta. Its extreme
/// eigenvalues lie within the spectrum of M A. G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed., 10.3.6.
template <int W> class ritz_blocks {
public:
  /// A step: D and its inverse over the first `rank` rows and columns, and the beta that led to its S.
  void add(const square<W>& d, const square<W>& inverse, const square<W>& beta, int rank) {
    steps_.push_back({d, inverse, beta, rank});
  }

  struct extremes {
    double smallest = 0, largest = 0; ///< 0 where nothing is known
  };
  /// To some percent, by power iterations with T and its inverse. Cost: 2 times 40 passes over the coefficients.
  extremes eigenvalues() const {
    if (steps_.empty()) return {};
    const double least = largest_of([&](block_vector& v) { multiply_inverse(v); });
    return {least > 0 ? 1 / least : 0, largest_of([&](block_vector& v) { multiply(v); })};
  }

private:
  using part = std::array<double, W>;
  using block_vector = std::vector<part>;
  struct coefficients {
    square<W> d, inverse, beta;
    int rank;
  };

  static part times(const square<W>& m, const part& v) {
    part w{};
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) w[i] += m[i][j] * v[j];
    return w;
  }
  static part times_transposed(const square<W>& m, const part& v) {
    part w{};
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) w[j] += m[i][j] * v[i];
    return w;
  }
  static void add(part& v, const part& w, double sign) {
    for (int i = 0; i < W; ++i) v[i] += sign * w[i];
  }

  void multiply(block_vector& v) const {
    const std::size_t count = steps_.size();
    for (std::size_t k = 0; k + 1 < count; ++k) add(v[k], times(steps_[k + 1].beta, v[k + 1]), -1); // B
    for (std::size_t k = 0; k < count; ++k) v[k] = times(steps_[k].d, v[k]);
    for (std::size_t k = count; k-- > 1;) add(v[k], times_transposed(steps_[k].beta, v[k - 1]), -1); // B'
  }
  void multiply_inverse(block_vector& v) const {
    const std::size_t count = steps_.size();
    for (std::size_t k = 1; k < count; ++k) add(v[k], times_transposed(steps_[k].beta, v[k - 1]), 1); // B'^-1
    for (std::size_t k = 0; k < count; ++k) v[k] = times(steps_[k].inverse, v[k]);
    for (std::size_t k = count - 1; k-- > 0;) add(v[k], times(steps_[k + 1].beta, v[k + 1]), 1); // B^-1
  }

  template <class F> double largest_of(F multiply_by) const {
    block_vector v(steps_.size());
    double sign = 1; // no eigenvector of interest is orthogonal to all of these signs and sizes
    for (std::size_t k = 0; k < v.size(); ++k)
      for (int i = 0; i < steps_[k].rank; ++i) v[k][i] = sign * (1 + 0.1 * double((7 * k + 3 * i) % 5)), sign = -sign;
    double largest = 0;
    for (int iteration = 0; iteration < 40; ++iteration) {
      const double before = std::sqrt(squares(v));
      if (!(before > 0)) return 0;
      for (part& p : v)
        for (double& e : p) e /= before;
      multiply_by(v);
      largest = std::max(largest, std::sqrt(squares(v)));
    }
    return largest;
  }
  static double squares(const block_vector& v) {
    double sum = 0;
    for (const part& p : v)
      for (const double e : p) sum += e * e;
    return sum;
  }

  std::vector<coefficients> steps_;
};

} // namespace furrow::block_cg
