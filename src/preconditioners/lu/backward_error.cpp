// SPDX-License-Identifier: BSD-3-Clause
#include "backward_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace furrow::lu {
namespace {

/// Plus or minus 1 to 2, anything but smooth.
double scattered(index_t j) {
  std::uint64_t h = (std::uint64_t(j) + 1) * 0x9e3779b97f4a7c15;
  h ^= h >> 31, h *= 0xbf58476d1ce4e5b9, h ^= h >> 29;
  const double size = 1 + std::ldexp(double(h >> 12), -52);
  return (h & 1) != 0 ? size : -size;
}

} // namespace

double backward_error(const columns& a, const factors& f) {
  host_array<double> b(a.n, 0.0), scale(a.n);
  for (index_t j = 0; j < a.n; ++j) {
    const double v = scattered(j);
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) b[a.row[k]] += a.val[k] * v;
  }
  host_array<double> x = b;
  f.solve(x.data(), false);
  for (index_t i = 0; i < a.n; ++i) scale[i] = std::abs(b[i]);
  for (index_t j = 0; j < a.n; ++j)
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
      const double part = a.val[k] * x[j];
      b[a.row[k]] -= part, scale[a.row[k]] += std::abs(part);
    }
  double most = 0;
  for (index_t i = 0; i < a.n; ++i) {
    const double e = b[i] == 0 ? 0 : std::abs(b[i]) / scale[i];
    if (!(e <= most)) most = e;
    if (std::isnan(e)) return std::numeric_limits<double>::quiet_NaN();
  }
  return most;
}

} // namespace furrow::lu
