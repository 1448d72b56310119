// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <cstdint>

namespace furrow {

/// Base-2 logarithm of a positive normal x to about 1e-15, by additions, products and divisions alone: unlike the
/// functions of the system's library, the same bits on every machine.
constexpr double portable_log2(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000); // [1, 2)
  const double t = (m - 1) / (m + 1), t2 = t * t; // ln m = 2 (t + t^3/3 + t^5/5 + ...), t < 1/3
  double sum = 0;
  for (int k = 33; k >= 1; k -= 2) sum = sum * t2 + 1.0 / k;
  return exponent + 2 * t * sum * 1.4426950408889634;
}

/// 2^x for |x| < 1000, in the same manner.
constexpr double portable_exp2(double x) {
  const int whole = static_cast<int>(x) - (x < 0 ? 1 : 0);
  const double t = (x - whole) * 0.6931471805599453; // [0, ln 2]
  double sum = 1;
  for (int k = 20; k >= 1; --k) sum = 1 + t / k * sum;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(whole + 1023) << 52);
}

constexpr double portable_power(double x, double exponent) { return portable_exp2(exponent * portable_log2(x)); }

} // namespace furrow
