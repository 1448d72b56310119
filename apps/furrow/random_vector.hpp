// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "generate/randomness.hpp"

#include <furrow/array.hpp>

namespace furrow::cli {

/// x in [0.5, 1.5): no element vanishes and sums do not grow with the sign.
template <class V> host_array<V> random_vector(index_t n) {
  host_array<V> x(n);
  const randomness random(1);
  for (index_t i = 0; i < n; ++i) x[i] = static_cast<V>(0.5 + unit(random.at(i)));
  return x;
}

} // namespace furrow::cli
