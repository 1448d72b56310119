// SPDX-License-Identifier: BSD-3-Clause
#include "power_of_five.hpp"

#include <bit>

namespace furrow::io {
namespace {

/// A natural number below 2^1024, lowest word first.
struct big {
  static constexpr int words = 32;
  std::array<std::uint32_t, words> word{};

  void times_five() {
    std::uint64_t carry = 0;
    for (std::uint32_t& w : word) {
      carry += std::uint64_t(w) * 5;
      w = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  /// Of numbers below 2^(32 count), as the next two.
  void twice(int count) {
    std::uint32_t carry = 0;
    for (int k = 0; k < count; ++k) {
      const std::uint32_t top = word[k] >> 31;
      word[k] = word[k] << 1 | carry;
      carry = top;
    }
  }
  bool at_least(const big& other, int count) const {
    for (int k = count - 1; k >= 0; --k)
      if (word[k] != other.word[k]) return word[k] > other.word[k];
    return true;
  }
  void minus(const big& other, int count) {
    std::int64_t borrow = 0;
    for (int k = 0; k < count; ++k) {
      borrow += std::int64_t(word[k]) - other.word[k];
      word[k] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
  }
  int bits() const {
    for (int k = words - 1; k >= 0; --k)
      if (word[k]) return 32 * k + std::bit_width(word[k]);
    return 0;
  }
  bool bit(int k) const { return k >= 0 && (word[k / 32] >> (k % 32) & 1); }
};

void append_bit(power_of_five& p, bool bit) {
  p.high = p.high << 1 | p.low >> 63;
  p.low = p.low << 1 | std::uint64_t(bit);
}

/// The 128 leading bits of n.
power_of_five leading(const big& n) {
  power_of_five out;
  const int top = n.bits();
  for (int k = 1; k <= 128; ++k) append_bit(out, n.bit(top - k));
  return out;
}

/// The 128 leading bits of 1/n, rounded down: long division of a power of two.
power_of_five leading_of_inverse(const big& n) {
  power_of_five out;
  big rest;                                           // 2^(bits(n) - 1) <= n, and not equal: n is a power of five
  const int top = n.bits() - 1, words = top / 32 + 2; // rest stays below 2 n
  rest.word[top / 32] = 1u << (top % 32);
  for (int k = 0; k < 128; ++k) {
    rest.twice(words);
    const bool bit = rest.at_least(n, words);
    if (bit) rest.minus(n, words);
    append_bit(out, bit);
  }
  return out;
}

power_table make() {
  power_table table;
  big n;
  n.word[0] = 1;
  for (int q = 0; q <= -smallest_power; ++q, n.times_five()) {
    if (q <= largest_power) table[q - smallest_power] = leading(n);
    if (q == 0) continue;
    power_of_five inverse = leading_of_inverse(n);
    if (q <= 27 && ++inverse.low == 0) ++inverse.high;
    table[-q - smallest_power] = inverse;
  }
  return table;
}

} // namespace

const power_table& powers_of_five() {
  static const power_table table = make();
  return table;
}

} // namespace furrow::io
