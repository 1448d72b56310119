// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cmath>

namespace furrow::chebyshev {

/// The exponent of the zero vector: a product scaled back by it is 0, whatever rounding of the partner's transform
/// left.
inline constexpr int vanished = -100000;

/// What to scale a factor by before its transform.
FURROW_HD inline int scale_of(int exponent) { return exponent == vanished ? 0 : -exponent; }

/// A sum of squares that neither overflows nor vanishes: numbers of three sizes are added apart (Blue, 1978).
struct squares {
  double large = 0, middle = 0, small = 0;

  FURROW_HD void add(double x) {
    const double size = x < 0 ? -x : x;
    if (size > 0x1p300) large += (size * 0x1p-600) * (size * 0x1p-600);
    else if (size < 0x1p-300) small += (size * 0x1p600) * (size * 0x1p600);
    else middle += size * size;
  }
  FURROW_HD void add(const squares& other) {
    large += other.large;
    middle += other.middle;
    small += other.small;
  }
  /// e with 2^e <= norm < 2^(e + 1), but for one or two units where numbers of two sizes meet; vanished for the zero
  /// vector, 0 where a number was not finite.
  FURROW_HD int exponent() const {
    constexpr double most = 0x1.fffffffffffffp1023;
    if (!(large <= most && middle <= most)) return 0;
    if (large > 0) return ilogb(sqrt(large)) + 600;
    if (middle > 0) return ilogb(sqrt(middle));
    return small > 0 ? ilogb(sqrt(small)) - 600 : vanished;
  }
};

} // namespace furrow::chebyshev
