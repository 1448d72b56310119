// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <optional>

namespace furrow {

/// r = b - A x with sums in at least twice the digits of V, rounded once, and its norm. Host memory. One pass over the
/// triplets that the operator gives back, which take their own memory for that time. Empty where the operator has none,
/// or where the memory cannot be had.
template <class V> struct exact_residual {
  double norm = 0;
  host_array<V> r;
};
template <class V>
std::optional<exact_residual<V>> residual_beyond_rounding(const any_operator<V>& a, cview<V> b, cview<V> x);

} // namespace furrow
