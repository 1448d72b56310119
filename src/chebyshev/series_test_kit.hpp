// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/random.hpp"

#include <furrow/chebyshev.hpp>

#include <cmath>

namespace furrow::chebyshev {

inline constexpr double unit = 0x1p-53;

inline series random_series(index_t n, std::uint64_t seed, interval on = {}) {
  return {kit::random_vector<double>(n, seed), on};
}

inline double size_of(const series& p) {
  double sum = 0;
  for (const double a : p.coefficients) sum += std::abs(a);
  return sum;
}

} // namespace furrow::chebyshev
