// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/operator.hpp>

#include <optional>

namespace furrow {

/// What an operator on ranks is beside: its triplets are the rank's rows, whose columns from shape().cols on are for
/// elements of x that other ranks have.
template <class V> struct reaches_other_ranks {
  virtual ~reaches_other_ranks() = default;
  /// x of this rank, and behind it those elements. All ranks call it together.
  virtual host_array<V> with_others(cview<V> x) const = 0;
};

/// r = b - A x with sums in at least twice the digits of V, rounded once, and its norm. Host memory. One pass over the
/// triplets that the operator gives back, which take their own memory for that time. Empty where the operator has none,
/// or where the memory cannot be had. With `ranks`, all of which call it, r is the part of each, and the
/// norm that of all.
template <class V> struct exact_residual {
  double norm = 0, terms = 0; ///< terms: the norm of |b| + |A| |x|
  host_array<V> r;
};
template <class V>
std::optional<exact_residual<V>> residual_beyond_rounding(const any_operator<V>& a, cview<V> b, cview<V> x,
                                                          communicator* ranks = nullptr);

} // namespace furrow
