// SPDX-License-Identifier: BSD-3-Clause
#include "colleague.hpp"

#include <furrow/error.hpp>

#include <algorithm>
#include <cmath>

// LAPACK by its Fortran names, which need no header.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void dgebal_(const char* job, const int* n, double* a, const int* lda, int* low, int* high, double* scale, int* info,
             std::size_t);
void dhseqr_(const char* job, const char* vectors, const int* n, const int* low, const int* high, double* h,
             const int* ldh, double* re, double* im, double* z, const int* ldz, double* work, const int* room,
             int* info, std::size_t, std::size_t);
void dstev_(const char* job, const int* n, double* diagonal, double* beside, double* z, const int* ldz, double* work,
            int* info, std::size_t);
}
// NOLINTEND(readability-identifier-naming)

namespace furrow::chebyshev {

/// With v = (T_(n-1), ..., T_0) at a root: t v = C v. 2 t T_k = T_(k+1) + T_(k-1), and T_n is eliminated by p = 0,
/// which fills the first row: C is upper Hessenberg already.
std::vector<std::complex<double>> colleague_roots(cview<double> a) {
  const int n = static_cast<int>(a.size) - 1;
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> c(size * size), re(size), im(size), scale(size), work(std::max<std::size_t>(11 * size, 1));
  const auto at = [&](int row, int col) -> double& {
    return c[static_cast<std::size_t>(col) * size + static_cast<std::size_t>(row)];
  };
  for (int row = 1; row < n; ++row) {
    at(row, row - 1) = row == n - 1 ? 1 : 0.5; // t T_0 = T_1
    if (row + 1 < n) at(row, row + 1) = 0.5;
  }
  for (int col = 0; col < n; ++col) at(0, col) = -a[n - 1 - col] / a[n] * (n == 1 ? 1 : 0.5);
  if (n > 1) at(0, 1) += 0.5;
  int low = 0, high = 0, info = 0;
  dgebal_("S", &n, c.data(), &n, &low, &high, scale.data(), &info, 1);
  const int room = static_cast<int>(work.size());
  dhseqr_("E", "N", &n, &low, &high, c.data(), &n, re.data(), im.data(), nullptr, &n, work.data(), &room, &info, 1, 1);
  require(info == 0, "the eigenvalues of a colleague matrix did not converge");
  std::vector<std::complex<double>> roots;
  for (std::size_t k = 0; k < size; ++k) roots.emplace_back(re[k], im[k]);
  return roots;
}

ritz_values tridiagonal_eigenvalues(std::vector<double> diagonal, const std::vector<double>& beside_squared) {
  const std::size_t size = diagonal.size();
  const int n = static_cast<int>(size);
  std::vector<double> beside, vectors(size * size), work(2 * size + 1);
  for (const double square : beside_squared) beside.push_back(std::sqrt(square));
  const double last = beside.empty() ? 0 : beside.back();
  int info = 0;
  if (n > 0) dstev_("V", &n, diagonal.data(), beside.data(), vectors.data(), &n, work.data(), &info, 1);
  require(info == 0, "the eigenvalues of a tridiagonal matrix did not converge");
  ritz_values r{std::move(diagonal), {}};
  for (std::size_t k = 0; k < size; ++k) r.residual.push_back(last * std::abs(vectors[k * size + size - 1]));
  return r;
}

} // namespace furrow::chebyshev
