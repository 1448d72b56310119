// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>

namespace furrow::amg {

inline constexpr int most_degree = 6;

/// Optimal Chebyshev polynomials of the fourth kind: with t = eigenvalue / lambda the error is multiplied by p(t), and
/// t p^2 / (1 - p^2) has the smallest maximum on (0, 1]. Needs no lower bound of the spectrum.
///   z = first / lambda D^-1 r;  x += beta_1 z;  i = 2..k: r -= A z, z = keep(i) z + gain(i) / lambda D^-1 r, x +=
///   beta_i z
/// J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, 2023; M. Phillips and P. Fischer, 2022.
struct chebyshev {
  static constexpr double first = 4.0 / 3;
  static constexpr double keep(int i) { return double(2 * i - 3) / (2 * i + 1); }
  static constexpr double gain(int i) { return double(8 * i - 4) / (2 * i + 1); }
  static constexpr double beta(int degree, int i) { return betas[degree - 1][i - 1]; }

private:
  static constexpr std::array<std::array<double, most_degree>, most_degree> betas{{
      {1.125},
      {1.02387287570313, 1.26408905371085},
      {1.00842544782028, 1.08867839208730, 1.33753125909618},
      {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
      {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
      {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444, 1.43524297106744},
  }};
};

/// The steps of a level's smoother, in the form of `chebyshev`: its own, or where A is not symmetric and eigenvalues
/// are not real those of a damped Jacobi iteration, x += first / lambda D^-1 (b - A x).
struct smoother_steps {
  bool symmetric = true;
  double first() const { return chebyshev::first; }
  double keep(int i) const { return symmetric ? chebyshev::keep(i) : 0; }
  double gain(int i) const { return symmetric ? chebyshev::gain(i) : chebyshev::first; }
  double beta(int degree, int i) const { return symmetric ? chebyshev::beta(degree, i) : 1; }
};

} // namespace furrow::amg
