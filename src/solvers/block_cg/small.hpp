// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cmath>

/// Algebra of W x W matrices, W up to 16, on the host: serial, in double. What has three nested loops is not inlined:
/// blocks of both precisions share it, and the compiler unrolls it once.
namespace furrow::block_cg {

template <int W> struct square {
  double a[W][W] = {};
  double* operator[](int i) { return a[i]; }
  const double* operator[](int i) const { return a[i]; }

  static square identity() {
    square m;
    for (int i = 0; i < W; ++i) m[i][i] = 1;
    return m;
  }
  square transposed() const {
    square t;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) t[i][j] = a[j][i];
    return t;
  }
  [[gnu::noinline]] friend square operator*(const square& x, const square& y) {
    square z;
    for (int i = 0; i < W; ++i)
      for (int k = 0; k < W; ++k)
        for (int j = 0; j < W; ++j) z[i][j] += x[i][k] * y[k][j];
    return z;
  }
  friend square operator+(square x, const square& y) {
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) x[i][j] += y[i][j];
    return x;
  }
  /// v'A v for v = column j of `c`.
  double form(const square& c, int j) const {
    double sum = 0;
    for (int p = 0; p < W; ++p)
      for (int q = 0; q < W; ++q) sum += c[p][j] * a[p][q] * c[q][j];
    return sum;
  }
  bool finite() const {
    double zero = 0;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) zero += 0 * a[i][j];
    return zero == 0;
  }
};

/// T = Q factor, Q = T inverse, from G = T'M T: Q has `rank` columns with Q'M Q = I, then zeros. What is dropped of T
/// has norms below the root of `tolerance` times its largest column's.
template <int W> struct orthonormal {
  square<W> factor, inverse;
  int rank = 0;
  double least = 1; ///< the last pivot over the first
};

/// Cholesky's factor of G with pivots (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 10.3).
template <int W> [[gnu::noinline]] orthonormal<W> orthonormalise(square<W> g, double tolerance) {
  orthonormal<W> f;
  int order[W];
  bool used[W] = {};
  double first = 0;
  for (int& r = f.rank; r < W; ++r) {
    int p = -1;
    for (int i = 0; i < W; ++i)
      if (!used[i] && (p < 0 || g[i][i] > g[p][p])) p = i;
    const double pivot = g[p][p];
    if (r == 0) first = pivot;
    if (!(pivot > 0 && pivot > tolerance * first)) break;
    f.least = pivot / first;
    order[r] = p;
    for (int j = 0; j < W; ++j)
      if (!used[j]) f.factor[r][j] = g[p][j] / std::sqrt(pivot);
    used[p] = true;
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j)
        if (!used[i] && !used[j]) g[i][j] -= f.factor[r][i] * f.factor[r][j];
  }
  for (int c = 0; c < f.rank; ++c) { // column c of the inverse of the triangle, from below
    for (int i = c; i >= 0; --i) {
      double sum = i == c;
      for (int k = i + 1; k <= c; ++k) sum -= f.factor[i][order[k]] * f.inverse[order[k]][c];
      f.inverse[order[i]][c] = sum / f.factor[i][order[i]];
    }
  }
  return f;
}

/// D^-1 of the leading `rank` rows and columns of D, zeros elsewhere, as V V' with the columns of V conjugate: V'D V =
/// I. Stops at the first pivot, v'D v, that is not positive beyond its rounding.
template <int W> struct inverse_of_definite {
  square<W> value;
  double pivot = 1; ///< the one that stopped it, and its v
  double v[W] = {};
  bool found = true;
};

template <int W> [[gnu::noinline]] inverse_of_definite<W> invert(const square<W>& d, int rank, double rounding) {
  inverse_of_definite<W> result;
  square<W> lower, conjugate; // D = L L', and V = L^-T
  for (int p = 0; p < rank; ++p) {
    for (int j = 0; j < p; ++j) {
      double sum = 0.5 * (d[p][j] + d[j][p]);
      for (int k = 0; k < j; ++k) sum -= lower[p][k] * lower[j][k];
      lower[p][j] = sum / lower[j][j];
    }
    double pivot = d[p][p];
    for (int k = 0; k < p; ++k) pivot -= lower[p][k] * lower[p][k];
    double v[W] = {};
    v[p] = 1;
    for (int k = 0; k < p; ++k)
      for (int i = 0; i <= k; ++i) v[i] -= lower[p][k] * conjugate[i][k];
    if (!(pivot > rounding * d[p][p])) {
      result.found = false;
      result.pivot = pivot;
      for (int i = 0; i < W; ++i) result.v[i] = v[i];
      return result;
    }
    lower[p][p] = std::sqrt(pivot);
    for (int i = 0; i <= p; ++i) conjugate[i][p] = v[i] / lower[p][p];
  }
  result.value = conjugate * conjugate.transposed();
  return result;
}

} // namespace furrow::block_cg
