// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow::amg {

/// The largest eigenvalue of the symmetric tridiagonal matrix, by bisection on Sturm's count.
inline double largest_of(const std::vector<double>& alpha, const std::vector<double>& beta) {
  double low = 0, high = 0;
  for (std::size_t k = 0; k < alpha.size(); ++k)
    high = std::max(high, std::abs(alpha[k]) + (k ? beta[k - 1] : 0) + (k < beta.size() ? beta[k] : 0));
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    double q = middle - alpha[0];
    bool below = q < 0; // an eigenvalue above `middle`
    for (std::size_t k = 1; k < alpha.size() && !below; ++k) {
      q = middle - alpha[k] - beta[k - 1] * beta[k - 1] / std::max(q, 1e-300);
      below = q < 0;
    }
    (below ? low : high) = middle;
  }
  return high;
}

/// Its eigenvector of an eigenvalue, the largest one, of length 1: two steps of inverse iteration.
inline std::vector<double> vector_of_largest(const std::vector<double>& alpha, const std::vector<double>& beta,
                                             double value) {
  const std::size_t n = alpha.size();
  const double shift = value + 1e-10 * std::abs(value); // shift - T is positive definite
  std::vector<double> x(n, 1.0), pivot(n);
  for (int step = 0; step < 2; ++step) {
    pivot[0] = std::max(shift - alpha[0], 1e-300);
    for (std::size_t k = 1; k < n; ++k) {
      pivot[k] = std::max(shift - alpha[k] - beta[k - 1] * beta[k - 1] / pivot[k - 1], 1e-14 * shift + 1e-300);
      x[k] += beta[k - 1] / pivot[k - 1] * x[k - 1];
    }
    x[n - 1] /= pivot[n - 1];
    for (std::size_t k = n - 1; k-- > 0;) x[k] = (x[k] + beta[k] * x[k + 1]) / pivot[k];
    double squares = 0;
    for (const double v : x) squares += v * v;
    for (double& v : x) v /= std::sqrt(squares);
  }
  return x;
}

/// What a Lanczos run found: the largest Ritz value, and the tridiagonal matrix that it is an eigenvalue of.
struct ritz_run {
  double value = 0;
  std::vector<double> alpha, beta;
};

/// The largest Ritz value of D^-1 A, 10 to 30 steps of Lanczos in the inner product of D: v and u = D v go together.
/// The vectors are the machine's:
/// start()        u is random, v = D^-1 u; gives v'u
/// multiply(s)    v, u times s; w = A v; gives v'w
/// advance(a, b)  the next u is w - a u - b (the u before), and v goes with it; gives v'u
template <class Machine> ritz_run run_lanczos(Machine& m) {
  ritz_run run;
  auto& [ritz, alpha, beta] = run;
  double norm = std::sqrt(m.start());
  for (int step = 0; step < 30 && norm > 0 && std::isfinite(norm); ++step) {
    alpha.push_back(m.multiply(1 / norm));
    const double before = ritz;
    ritz = largest_of(alpha, beta);
    if (step >= 9 && ritz - before <= 0.01 * ritz) break;
    const double squares = m.advance(alpha.back(), beta.empty() ? 0 : beta.back());
    norm = squares > 0 ? std::sqrt(squares) : 0;
    if (norm < 1e-10 * ritz) break;
    beta.push_back(norm);
  }
  return run;
}

/// Up to this Gershgorin's bound is taken as it is: rows are weakly dominant.
inline constexpr double dominant_rows = 2.0001;
/// A bound of the spectrum from above, by Gershgorin and by a Ritz value.
inline double bound_by(double gershgorin, double ritz) { return std::min(gershgorin, 1.1 * ritz); }

/// The same, by what Gershgorin says and, where that is more than 2, by Ritz values.
template <class Machine> double bound_of_spectrum(double gershgorin, Machine&& m) {
  return gershgorin <= dominant_rows ? gershgorin : bound_by(gershgorin, run_lanczos(m).value);
}

} // namespace furrow::amg
