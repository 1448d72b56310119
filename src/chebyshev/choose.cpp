// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

/// Multiply-adds of the sums of one product.
double multiply_adds(const product_shape& s) {
  const double na = double(s.na), nb = double(s.nb), left_out = double(s.all() - s.nonzero());
  return 2 * na * nb - std::min(left_out * left_out / 2, na * nb);
}

/// What the transforms of a product cost, in the same unit: `each` a point and stage.
double transform_cost(const product_shape& s, double each) {
  const double m = double(points_needed(s));
  return each * m * std::log2(m + 2);
}

} // namespace

algorithm choose(const product_shape& shape, index_t count, accuracy wanted, device where, bool single) {
  if (wanted == accuracy::componentwise) return algorithm::direct;
  const double sums = multiply_adds(shape);
  if (!where.is_gpu()) {
    // Measured on one core with AVX-512: a multiply-add takes 0.065 ns, a point 0.55 ns a stage; both start in 0.4 us.
    return (single ? 0.5 : 1) * sums < transform_cost(shape, 8.5) ? algorithm::direct : algorithm::fft;
  }
  // Measured on an H200: a graph of a dozen kernels against one kernel; the sums run at about 80 % of the peak.
  const double work = double(count) * sums;
  const double bytes = 250 * double(points_needed(shape)) * double(count);
  return 8e-6 + work / 26e12 < 30e-6 + bytes / 3.5e12 ? algorithm::direct : algorithm::fft;
}

} // namespace furrow::chebyshev
