// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

namespace furrow {

/// Elements [first, first + n) of the k-th vector that a residual is held against: uniform in [-1, 1), the same for
/// every run, device and number of ranks. Serial.
template <class V> host_array<V> shadow_vector(index_t n, index_t k, index_t first);

} // namespace furrow
