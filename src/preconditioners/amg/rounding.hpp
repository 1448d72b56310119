// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <cmath>
#include <limits>

namespace furrow::amg {

/// A value times a power of two, without denormal numbers.
template <class W> W rounded(double v, double scale) {
  const double scaled = v * scale;
  return std::abs(scaled) < double(std::numeric_limits<W>::min()) ? W(0) : static_cast<W>(scaled);
}
template <class W> host_array<W> rounded(cview<double> v, double scale) {
  host_array<W> w(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) w[i] = rounded<W>(v[i], scale);
  });
  return w;
}

} // namespace furrow::amg
