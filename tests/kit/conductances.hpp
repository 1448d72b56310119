// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

/// Points of a grid with conductances between them, for tests of multigrid.
namespace furrow::kit {

/// The Laplacian of a box, the coupling of points i < j times times(i, j); rows add up to 1 at the wall y = z = 0 and
/// to 0.01 elsewhere, so that it is definite.
template <class F> coo<double> conducting(index_t nx, index_t ny, index_t nz, F times) {
  auto a = laplacian(nx, ny, nz);
  std::vector<double> sum(static_cast<std::size_t>(a.shape.rows), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t i = std::min(a.row[k], a.col[k]), j = std::max(a.row[k], a.col[k]);
    if (i == j) continue;
    a.val[k] *= times(i, j);
    sum[static_cast<std::size_t>(a.row[k])] -= a.val[k];
  }
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] = sum[static_cast<std::size_t>(a.row[k])] + (a.row[k] < nx ? 1 : 0.01);
  return a;
}

/// Conductances of 10^-3 to 10^3, and some rows that hold nothing but a diagonal.
inline coo<double> jumps(index_t nx, index_t ny, index_t nz = 1) {
  auto a = laplacian(nx, ny, nz);
  splitmix random(3);
  std::vector<double> k(static_cast<std::size_t>(a.shape.rows)), sum(k.size(), 0.0);
  for (double& c : k) c = std::pow(10.0, double(random.below(7)) - 3);
  const auto alone = [](index_t i) { return i % 37 == 5; };
  for (index_t e = 0; e < a.nnz(); ++e) {
    const index_t i = a.row[e], j = a.col[e];
    if (i == j) continue;
    a.val[e] = alone(i) || alone(j) ? 0 : -2 * k[i] * k[j] / (k[i] + k[j]);
    sum[i] -= a.val[e];
  }
  for (index_t e = 0; e < a.nnz(); ++e)
    if (a.row[e] == a.col[e]) a.val[e] = sum[a.row[e]] + (sum[a.row[e]] == 0 || a.row[e] == 0 ? 1 : 0);
  return a;
}

} // namespace furrow::kit
