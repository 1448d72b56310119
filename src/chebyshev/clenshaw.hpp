// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

/// The arithmetic of one point of a Chebyshev sum, for the host and the device.
namespace furrow::chebyshev {

/// Beyond this |t| a point takes Reinsch's form.
inline constexpr double end_zone = 0.875;

/// Three recurrences in one text, from the last coefficient down to a_1:
///
///   now  = a_k + sign e + factor b          e, b: 0 at first
///   e    = now in Reinsch's form, b otherwise
///   b    = now + turn b
///
/// middle        factor = 2 t          sign = -1   turn = 0    e is the b before: b_k = a_k + 2 t b_(k+1) - b_(k+2)
/// near t = 1    factor = 2 (t - 1)    sign = 1    turn = 1    e is the difference of two b
/// near t = -1   factor = 2 (t + 1)    sign = -1   turn = -1   e is their sum
///
/// and p = a_0 + factor / 2 b + sign e at the end. No form needs a branch for each coefficient.
template <class V> struct place {
  V factor, sign, turn;

  /// In double at least. The quotient comes before the product, which may leave the range where x is large.
  using wide = decltype(V() + double());
  FURROW_HD static place of(wide low, wide high, wide x) {
    const wide width = high - low, t = ((x - low) - (high - x)) / width;
    if (t > end_zone) return {static_cast<V>(4 * ((x - high) / width)), V(1), V(1)};
    if (t < -end_zone) return {static_cast<V>(4 * ((x - low) / width)), V(-1), V(-1)};
    return {static_cast<V>(2 * t), V(-1), V(0)};
  }
};

/// The running pair of one point.
template <class V> struct clenshaw {
  V b = 0, e = 0;

  /// A point in the middle has the same bits with and without Ends.
  template <bool Ends> FURROW_HD void step(const place<V>& at, V coefficient) {
    if constexpr (!Ends) {
      const V now = at.factor * b + (coefficient - e);
      e = b;
      b = now;
      return;
    }
    const V now = at.factor * b + (at.sign * e + coefficient);
    e = at.turn == V(0) ? b : now;
    b = now + at.turn * b;
  }
  FURROW_HD V value(const place<V>& at, V first) const { return at.factor / 2 * b + (at.sign * e + first); }
};

} // namespace furrow::chebyshev
