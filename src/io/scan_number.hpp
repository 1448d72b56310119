// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "power_of_five.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

/// Numbers out of text, as fast as a core can. Every scanner here may read up to 15 bytes beyond the number, so the
/// text must be followed by a line end and 64 readable bytes.
namespace furrow::io {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
/// Space between numbers. The line end is not blank.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// How many of the eight characters in `word` (the first in the lowest byte) are digits before the first other one.
inline int leading_digits(std::uint64_t word) {
  const std::uint64_t high = 0xF0F0F0F0F0F0F0F0u, zeros = 0x3030303030303030u;
  // A carry out of a byte reaches only bytes after a non-digit: they do not count.
  const std::uint64_t other = ((word & high) ^ zeros) | (((word + 0x0606060606060606u) & high) ^ zeros);
  return other ? std::countr_zero(other) >> 3 : 8;
}

/// The value of eight digits, the first in the lowest byte. Bytes of 0 count as the digit 0.
inline std::uint64_t eight_digits(std::uint64_t word) {
  word = (word & 0x0F0F0F0F0F0F0F0Fu) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FFu) * 6553601 >> 16;
  return (word & 0x0000FFFF0000FFFFu) * 42949672960001u >> 32;
}

inline std::uint64_t load_eight(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

/// A natural number at `p`, with `p` moved behind it; what does not fit 64 bits becomes 2^64 - 1. False without digits.
inline bool scan_index(const char*& p, std::uint64_t& value) {
  const std::uint64_t word = load_eight(p);
  const int n = leading_digits(word);
  if (n == 0) [[unlikely]] {
    if (*p != '+' || !is_digit(p[1])) return false;
    return scan_index(++p, value);
  }
  value = eight_digits(word << (64 - 8 * n));
  p += n;
  if (n == 8) [[unlikely]] {
    for (; is_digit(*p); ++p) {
      const unsigned digit = static_cast<unsigned>(*p - '0');
      const bool fits = value < 1844674407370955161u;
      value = fits ? value * 10 + digit : ~std::uint64_t(0);
    }
  }
  return true;
}

/// Appends the digits at `p` to the decimal number `w` (modulo 2^64) and returns the first character behind them.
inline const char* scan_digits(const char* p, std::uint64_t& w) {
  static constexpr std::uint64_t ten_to[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  for (;;) {
    const std::uint64_t word = load_eight(p);
    const int n = leading_digits(word);
    if (n == 8) {
      w = w * 100000000 + eight_digits(word);
      p += 8;
    } else {
      if (n) w = w * ten_to[n] + eight_digits(word << (64 - 8 * n));
      return p + n;
    }
  }
}

/// w * 10^q, correctly rounded, for w > 0; infinity where it is too large.
/// Lemire, Number parsing at a gigabyte per second, 2021; Mushtak and Lemire, 2023: no case is left undecided.
inline double compose(std::uint64_t w, int q, const power_table& powers) {
  if (q < smallest_power) return 0;
  if (q > largest_power) return std::bit_cast<double>(std::uint64_t(0x7FF) << 52);
  const int shift = std::countl_zero(w);
  w <<= shift;
  const power_of_five& five = powers[q - smallest_power];
  __extension__ using wide = unsigned __int128;
  const wide first = wide(w) * five.high;
  std::uint64_t high = static_cast<std::uint64_t>(first >> 64), low = static_cast<std::uint64_t>(first);
  if ((high & 0x1FF) == 0x1FF) {
    const auto more = static_cast<std::uint64_t>(wide(w) * five.low >> 64);
    low += more;
    high += more > low;
  }
  const int top = static_cast<int>(high >> 63);
  std::uint64_t mantissa = high >> (top + 9);
  int exponent = ((217706 * q) >> 16) + 63 + top - shift + 1023;
  if (exponent <= 0) { // below the normal numbers
    if (1 - exponent >= 64) return 0;
    mantissa >>= 1 - exponent;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return std::bit_cast<double>(mantissa); // a carry into bit 52 makes the smallest normal number
  }
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << (top + 9) == high)
    mantissa &= ~std::uint64_t(1);
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> 53) {
    mantissa >>= 1;
    ++exponent;
  }
  if (exponent >= 0x7FF) return std::bit_cast<double>(std::uint64_t(0x7FF) << 52);
  return std::bit_cast<double>((mantissa & ((std::uint64_t(1) << 52) - 1)) | std::uint64_t(exponent) << 52);
}

/// value = +-w * 10^q, correctly rounded; false where it is too large.
__attribute__((always_inline)) inline bool compose_value(std::uint64_t w, int q, bool negative, double& value,
                                                         const power_table& powers) {
  static constexpr double ten_to[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  double size;
  if (w <= std::uint64_t(1) << 53 && q >= -22 && q <= 22) [[likely]] { // both factors are exact: one rounding
    size = static_cast<double>(static_cast<std::int64_t>(w));
    size = q < 0 ? size / ten_to[-q] : size * ten_to[q];
  } else if (w == 0) {
    size = 0;
  } else {
    size = compose(w, q, powers);
    if (std::bit_cast<std::uint64_t>(size) >> 52 == 0x7FF) [[unlikely]]
      return false;
  }
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | std::uint64_t(negative) << 63);
  return true;
}

enum class number { good, malformed, too_large };

/// The whole of `text` as a number: sign, digits with or without a point, exponent with e, E, d or D; or nan, inf,
/// infinity. Correctly
/// rounded; what is nearer to 0 than to any other number becomes 0. Slow, and without a limit on the digits.
number read_real(std::string_view text, double& value);

/// The whole of `text` as an integer: sign and digits. Rounded where it has more than 53 bits.
number read_integer(std::string_view text, double& value);

/// The end of the run of characters at `p` that are neither blank nor the line end.
inline const char* word_end(const char* p) {
  while (!is_blank(*p) && *p != '\n') ++p;
  return p;
}

/// A real number at `p`, correctly rounded, as `read_real` would read it. The end of the number, or nullptr where there
/// is none, where something else follows without a blank, or where it is too large.
inline const char* scan_real(const char* p, double& value, const power_table& powers) {
  const char* const start = p;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const first = p;
  std::uint64_t w = 0;
  p = scan_digits(p, w);
  auto digits = p - first;
  std::int64_t q = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = scan_digits(p, w);
    q = fraction - p;
    digits -= q;
  }
  if (digits == 0) [[unlikely]] { // nan, inf, or no number
    p = word_end(p);
    return read_real({start, static_cast<std::size_t>(p - start)}, value) == number::good ? p : nullptr;
  }
  if ((*p | 0x20) == 'e') {
    ++p;
    const bool below = *p == '-';
    p += below || *p == '+';
    if (!is_digit(*p)) [[unlikely]]
      return nullptr;
    std::int64_t exponent = 0;
    for (; is_digit(*p); ++p)
      if (exponent < 100000) exponent = exponent * 10 + (*p - '0');
    q += below ? -exponent : exponent;
  }
  const char after = *p;
  bool slow = false;
  if (after != '\n' && after != ' ' && !is_blank(after)) [[unlikely]] {
    if ((after | 0x20) != 'd') return nullptr;
    slow = true;
  } else if (digits > 19) [[unlikely]] {
    for (const char* z = first; *z == '0' || *z == '.'; ++z) digits -= *z == '0';
    slow = digits > 19;
  }
  if (slow) [[unlikely]] {
    p = word_end(p);
    return read_real({start, static_cast<std::size_t>(p - start)}, value) == number::good ? p : nullptr;
  }
  const int exponent = static_cast<int>(std::clamp<std::int64_t>(q, -100000, 100000));
  return compose_value(w, exponent, negative, value, powers) ? p : nullptr;
}

} // namespace furrow::io
