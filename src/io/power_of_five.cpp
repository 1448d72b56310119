// SPDX-License-Identifier: BSD-3-Clause
#include "power_of_five.hpp"

#include <bit>

namespace furrow::io {
namespace {

/// A natural number below 2^1024, lowest word first; above the `used` ones all are zeros.
struct big {
  static constexpr int words = 32;
  std::array<std::uint32_t, words> word{};
  int used = words;

  void times_five() {
    std::uint64_t carry = 0;
    for (int k = 0; k < used; ++k) {
      carry += std::uint64_t(word[k]) * 5;
      word[k] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry) word[used++] = static_cast<std::uint32_t>(carry);
  }
  /// Rounded down.
  void over_five() {
    std::uint64_t rest = 0;
    for (int k = used; k-- > 0;) {
      rest = rest << 32 | word[k];
      word[k] = static_cast<std::uint32_t>(rest / 5);
      rest %= 5;
    }
    if (word[used - 1] == 0) --used;
  }
  /// Words k and k + 1; those before the first are zeros.
  std::uint64_t pair(int k) const {
    if (k < -1) return 0;
    return std::uint64_t(word[k + 1]) << 32 | (k < 0 ? 0 : word[k]);
  }
};

/// The 128 leading bits of n; the last of its used words is not 0.
power_of_five leading(const big& n) {
  const int top = n.used, up = std::countl_zero(n.word[top - 1]);
  const std::uint64_t first = n.pair(top - 2), second = n.pair(top - 4), third = n.pair(top - 6);
  if (up == 0) return {first, second};
  return {first << up | second >> (64 - up), second << up | third >> (64 - up)};
}

/// 1/5^q from one power of two, divided again and again: what is rounded down in each step is as if it were once, and
/// 2^1023 / 5^342 has 229 bits.
power_table make() {
  power_table table;
  big n, inverse;
  n.word[0] = 1, n.used = 1;
  inverse.word[big::words - 1] = 1u << 31;
  for (int q = 0; q <= largest_power; ++q, n.times_five()) table[q - smallest_power] = leading(n);
  for (int q = 1; q <= -smallest_power; ++q) {
    inverse.over_five();
    power_of_five p = leading(inverse);
    if (q <= 27 && ++p.low == 0) ++p.high;
    table[-q - smallest_power] = p;
  }
  return table;
}

} // namespace

const power_table& powers_of_five() {
  static const power_table table = make();
  return table;
}

} // namespace furrow::io
