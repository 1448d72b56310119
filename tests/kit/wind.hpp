// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace furrow::kit {

/// Diffusion and a wind that goes around in a square of n x n points, upwind; `speed` is the largest Peclet number of a
/// cell where `coupling(i, j)`, of neighbours, is 1.
template <class F> coo<double> wind_through(index_t n, double speed, F coupling) {
  std::vector<triplet> entries;
  const auto at = [&](index_t k) { return std::numbers::pi * double(k + 1) / double(n + 1); };
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const double u = speed * std::sin(at(i)) * std::cos(at(j)), v = -speed * std::cos(at(i)) * std::sin(at(j));
      const index_t row = j * n + i;
      double sum = 0;
      const auto add = [&](index_t x, index_t y, double flow) {
        const double size = std::max(flow, 0.0) + coupling(row, y * n + x);
        sum += size;
        if (x >= 0 && x < n && y >= 0 && y < n) entries.push_back({row, y * n + x, -size});
      };
      add(i - 1, j, u), add(i + 1, j, -u), add(i, j - 1, v), add(i, j + 1, -v);
      entries.push_back({row, row, sum});
    }
  return assemble({n * n, n * n}, std::move(entries));
}

inline coo<double> wind_around(index_t n, double speed, double along_x = 1) {
  return wind_through(n, speed, [=](index_t i, index_t j) { return std::abs(i - j) == 1 ? along_x : 1.0; });
}

/// The same over conductances of points from 1e-3 to 1e3 at random; of 200 x 200 points smoothed levels have a diagonal
/// entry that is negative.
inline coo<double> wind_over_jumps(index_t n, double speed) {
  const auto power = random_vector<double>(n * n, 11);
  const auto size_of = [&](index_t i) { return i >= 0 && i < n * n ? std::pow(10.0, 3 * power[i]) : 1.0; };
  return wind_through(n, speed, [&](index_t i, index_t j) { return 2 / (1 / size_of(i) + 1 / size_of(j)); });
}

} // namespace furrow::kit
