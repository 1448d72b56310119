// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <cmath>

/// Powers of two that bring numbers near 1, so that sums of them neither overflow nor vanish; exact.
namespace furrow::chebyshev {

/// 2^e <= max |a_k| < 2^(e + 1); 0 where all are 0.
inline int exponent_of(cview<double> a) {
  double largest = 0;
  for (const double v : a) largest = std::max(largest, std::abs(v));
  return largest > 0 ? std::ilogb(largest) : 0;
}

/// a 2^e.
inline host_array<double> scaled_by(cview<double> a, int e) {
  host_array<double> b(a.size);
  std::transform(a.begin(), a.end(), b.begin(), [e](double v) { return std::scalbn(v, e); });
  return b;
}

} // namespace furrow::chebyshev
