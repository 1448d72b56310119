// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/operator.hpp>

#include <limits>
#include <optional>

namespace furrow {

/// A bound for what rounding does to b - A x as it is computed, with sizes of |A| |x| + |b|: a row of k entries is off
/// by at most (k + 2) u times the sum of |a_ij x_j| and |b_i| (N. J. Higham, Accuracy and Stability of Numerical
/// Algorithms, 2nd ed., 3.1).
template <class V> double rounding_of_residual(index_t longest_row, double sizes) {
  return (double(longest_row) + 3) * (double(std::numeric_limits<V>::epsilon()) / 2) * sizes;
}

/// Whether A'r, by `ratio` = |A'r| / (|A| |r|), is no more than that of what rounding, of which that is the bound,
/// makes of x and A x, while r stands out of it by far.
inline bool is_normal_up_to_rounding(double ratio, double rounding, double norm_r) {
  return ratio * norm_r <= rounding && rounding <= 0.01 * norm_r;
}

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
