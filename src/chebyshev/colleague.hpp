// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <complex>
#include <vector>

namespace furrow::chebyshev {

/// All roots of sum a_k T_k(t), a of at least two elements, the last one not 0: eigenvalues of the colleague matrix by
/// LAPACK. Throws `fault::internal` where they do not converge.
std::vector<std::complex<double>> colleague_roots(cview<double> a);

/// Eigenvalues, ascending, of the symmetric tridiagonal matrix with this diagonal and the roots of these squares beside
/// it; the last square belongs to what follows the matrix: how far an eigenvalue is from one of what it was taken from.
struct ritz_values {
  std::vector<double> value, residual;
};
ritz_values tridiagonal_eigenvalues(std::vector<double> diagonal, const std::vector<double>& beside_squared);

} // namespace furrow::chebyshev
