// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"

namespace furrow::kit {

/// 1 / (i + j + 1), which is positive definite and as ill conditioned as it can be.
inline coo<double> hilbert(index_t n) {
  return from_function(n, [](index_t i, index_t j) { return 1.0 / double(i + j + 1); });
}

} // namespace furrow::kit
