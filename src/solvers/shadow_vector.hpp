// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "generate/randomness.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Element i of the k-th vector that a residual is held against: uniform in [-1, 1), the same for every run, device and
/// number of ranks.
FURROW_HD constexpr double shadow_element(index_t i, index_t k) { return 2 * unit(randomness(913).at(i, k)) - 1; }

/// Elements [first, first + n) of it. Serial.
template <class V> host_array<V> shadow_vector(index_t n, index_t k, index_t first);

} // namespace furrow
