// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hdia.hpp"

namespace furrow {

/// Slices of hdia on the CPU, for cpu::row_operator: a strip is one or two vectors of AVX-512, twice as many of AVX2,
/// multiplied by consecutive elements of x; strips of even and of odd number are summed apart, so that additions
/// overlap. Then the rest, as sell does it.
struct strip_rows {
  template <class V> static void sums(const hdia<V, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

} // namespace furrow
