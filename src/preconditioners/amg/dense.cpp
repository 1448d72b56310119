// SPDX-License-Identifier: BSD-3-Clause
#include "dense.hpp"

#include "backends/cpu/parallel.hpp"
#include "preconditioners/lu/dense_lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace furrow::amg {
namespace {

/// What rounding may leave of a pivot, relative to the diagonal entry, and what it cannot make of a positive one.
constexpr double lost_pivot = 1e-13, negative = -1e-8;

struct square {
  index_t n;
  std::vector<double> at;
  double* row(index_t i) { return at.data() + i * n; }
};

double dot(const double* x, const double* y, index_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (index_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
void add(double factor, const double* x, double* y, index_t n) {
#pragma omp simd
  for (index_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

/// a: L below the diagonal, d: D, 0 for a pivot that is lost. By rows: L_ij D_j = A_ij - sum L_ik D_k L_jk.
bool factor(square& a, std::vector<double>& d) {
  std::vector<double> scaled(static_cast<std::size_t>(a.n));
  for (index_t i = 0; i < a.n; ++i) {
    double* const l = a.row(i);
    const double own = l[i];
    for (index_t j = 0; j < i; ++j) scaled[j] = l[j] - dot(scaled.data(), a.row(j), j);
    double pivot = own;
    for (index_t j = 0; j < i; ++j) {
      l[j] = d[j] > 0 ? scaled[j] / d[j] : 0;
      pivot -= l[j] * (d[j] > 0 ? scaled[j] : 0);
    }
    if (!(pivot >= negative * own)) return false;
    d[i] = pivot > lost_pivot * own * double(a.n) ? pivot : 0;
  }
  return true;
}

/// L^-1 in place, unit lower triangular, by rows.
void invert_lower(square& a) {
  std::vector<double> l(static_cast<std::size_t>(a.n));
  for (index_t i = 0; i < a.n; ++i) {
    double* const row = a.row(i);
    std::copy_n(row, i, l.begin());
    std::fill_n(row, a.n, 0.0);
    row[i] = 1;
    for (index_t j = 0; j < i; ++j) add(-l[j], a.row(j), row, j + 1);
  }
}

/// x <- x - N N'x for every row x, then for every column: N orthonormal.
void project(square& g, const std::vector<std::vector<double>>& null) {
  for (const auto& v : null) {
    std::vector<double> along(static_cast<std::size_t>(g.n), 0.0);
    for (index_t i = 0; i < g.n; ++i) add(-dot(g.row(i), v.data(), g.n), v.data(), g.row(i), g.n);
    for (index_t i = 0; i < g.n; ++i) add(v[i], g.row(i), along.data(), g.n);
    for (index_t i = 0; i < g.n; ++i) add(-v[i], along.data(), g.row(i), g.n);
  }
}

/// Of each lost pivot k: row k of L^-1, for A = L D L' gives A L^-T e_k = L D e_k = 0. Orthonormalised twice.
std::vector<std::vector<double>> null_space(square& inverse, const std::vector<double>& d) {
  std::vector<std::vector<double>> null;
  for (index_t k = 0; k < inverse.n; ++k) {
    if (d[k] > 0) continue;
    std::vector<double> v(inverse.row(k), inverse.row(k) + inverse.n);
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& other : null) add(-dot(v.data(), other.data(), inverse.n), other.data(), v.data(), inverse.n);
    const double norm = std::sqrt(dot(v.data(), v.data(), inverse.n));
    for (double& x : v) x /= norm;
    null.push_back(std::move(v));
  }
  return null;
}

} // namespace

std::optional<host_array<double>> dense_inverse(row_view<double> a) {
  const index_t n = a.shape.rows;
  square l{n, std::vector<double>(static_cast<std::size_t>(n * n), 0.0)};
  for (index_t i = 0; i < n; ++i)
    for (index_t k = a.begin(i); k < a.end(i); ++k) l.row(i)[a.col[k]] = a.val[k];
  std::vector<double> d(static_cast<std::size_t>(n));
  if (!factor(l, d)) return std::nullopt;
  invert_lower(l);
  square g{n, std::vector<double>(static_cast<std::size_t>(n * n), 0.0)};
  for (index_t k = 0; k < n; ++k)
    if (d[k] > 0)
      for (index_t i = 0; i <= k; ++i) add(l.row(k)[i] / d[k], l.row(k), g.row(i), k + 1);
  project(g, null_space(l, d));
  host_array<double> inverse(n * n);
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) inverse[i * n + j] = (g.row(i)[j] + g.row(j)[i]) / 2;
  return inverse;
}

std::optional<host_array<double>> general_inverse(row_view<double> a) {
  constexpr index_t together = 64; // columns of the inverse, which stay in a second cache with their rows
  const index_t n = a.shape.rows;
  host_array<double> lu(n * n, 0.0), inverse(n * n, 0.0); // lu by columns
  double largest = 0;
  for (index_t i = 0; i < n; ++i)
    for (index_t k = a.begin(i); k < a.end(i); ++k) {
      lu[a.col[k] * n + i] = a.val[k];
      largest = std::max(largest, std::abs(a.val[k]));
    }
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  lu::small_pivots lost{lost_pivot * largest * double(n), largest / std::numeric_limits<double>::epsilon()};
  lu::factor_dense_panel({lu.data(), n}, n, n, pivots.data(), &lost);
  std::vector<index_t> from(static_cast<std::size_t>(n));
  std::iota(from.begin(), from.end(), index_t(0));
  for (index_t i = 0; i < n; ++i) std::swap(from[i], from[pivots[i] - 1]);
  for (index_t i = 0; i < n; ++i) inverse[i * n + from[i]] = 1;
  cpu::for_each_task((n + together - 1) / together, [&](index_t t) {
    const index_t first = t * together, count = std::min(together, n - first);
    const auto row = [&](index_t i) { return inverse.data() + i * n + first; };
    for (index_t j = 0; j < n; ++j)
      for (index_t i = j + 1; i < n; ++i) add(-lu[j * n + i], row(j), row(i), count);
    for (index_t j = n; j-- > 0;) {
      for (index_t c = 0; c < count; ++c) row(j)[c] /= lu[j * n + j];
      for (index_t i = 0; i < j; ++i) add(-lu[j * n + i], row(j), row(i), count);
    }
  });
  const bool finite = std::ranges::all_of(inverse, [](double v) { return std::isfinite(v); });
  return finite ? std::optional(std::move(inverse)) : std::nullopt;
}

} // namespace furrow::amg
