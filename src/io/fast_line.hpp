// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "scan_number.hpp"

#include <array>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// Whole lines "row column value" at once. A mask of the digits among the next 48 characters says where every number
/// begins and ends, so that hardly a branch depends on how long they are, and the next line can begin before this one
/// is finished. What looks different in any way is left to the scanners of scan_number.hpp.
namespace furrow::io {

#ifdef __SSE2__
inline constexpr bool has_fast_line = true;

/// What the next 48 characters are, a bit each.
struct line_masks {
  std::uint64_t other, ends; ///< no digits; line ends. Bit 48 is always set in both, the bits above never
};
inline line_masks look_ahead(const char* p) {
  const __m128i shift = _mm_set1_epi8(static_cast<char>(128 - '0')), limit = _mm_set1_epi8(-128 + 9);
  line_masks out{std::uint64_t(1) << 48, std::uint64_t(1) << 48};
  const auto bits = [](__m128i m) { return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(m))); };
  for (int k = 0; k < 3; ++k) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * k));
    out.other |= bits(_mm_cmpgt_epi8(_mm_add_epi8(text, shift), limit)) << (16 * k); // digits become -128 to -119
    out.ends |= bits(_mm_cmpeq_epi8(text, _mm_set1_epi8('\n'))) << (16 * k);
  }
  return out;
}
#else
inline constexpr bool has_fast_line = false;
struct line_masks {
  std::uint64_t other, ends;
};
inline line_masks look_ahead(const char*) { return {}; }
#endif

/// keep[n]: the last n of eight characters; keep[n] of the first and keep[n - 8] of the second half of sixteen.
struct tail_masks {
  std::array<std::uint64_t, 17> low{}, high{};
  constexpr tail_masks() {
    const auto last = [](int n) { return n <= 0 ? 0 : n >= 8 ? ~std::uint64_t(0) : ~std::uint64_t(0) << (64 - 8 * n); };
    for (int n = 0; n <= 16; ++n)
      low[static_cast<std::size_t>(n)] = last(n), high[static_cast<std::size_t>(n)] = last(n - 8);
  }
};
inline constexpr tail_masks keep;

/// The natural number of `n` <= 8 digits that ends before `end`. Reads eight characters.
inline std::uint64_t number_before(const char* end, unsigned n) {
  return eight_digits(load_eight(end - 8) & keep.low[n]);
}

inline constexpr auto whole_ten_to = [] {
  std::array<std::uint64_t, 17> out{1};
  for (std::size_t k = 1; k < out.size(); ++k) out[k] = 10 * out[k - 1];
  return out;
}();

/// Four natural numbers of at most 8 digits each: number k has n[k] digits and ends before end[k].
struct four_numbers {
  std::uint32_t value[4];
};
/// The numbers of one line: row, column, and a fraction of n2 <= 16 digits that ends before e2, in halves of 8.
inline four_numbers numbers_of_line(const char* e0, unsigned n0, const char* e1, unsigned n1, const char* e2,
                                    unsigned n2) {
#ifdef __SSE2__
  const auto pair = [](const void* low, const void* high) {
    return _mm_unpacklo_epi64(_mm_loadl_epi64(static_cast<const __m128i_u*>(low)),
                              _mm_loadl_epi64(static_cast<const __m128i_u*>(high)));
  };
  const auto hundreds = [](__m128i text, __m128i mask) { // eight digits to four numbers below 100^2
    const __m128i digits = _mm_and_si128(_mm_and_si128(text, mask), _mm_set1_epi8(0x0F));
    const __m128i tens = _mm_add_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(10)), _mm_srli_epi16(digits, 8));
    return _mm_madd_epi16(_mm_and_si128(tens, _mm_set1_epi16(0xFF)), _mm_set1_epi32(1 << 16 | 100));
  };
  const __m128i a = hundreds(pair(e0 - 8, e1 - 8), pair(&keep.low[n0], &keep.low[n1]));
  const __m128i b = hundreds(pair(e2 - 16, e2 - 8), pair(&keep.high[n2], &keep.low[n2]));
  four_numbers out;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out.value),
                   _mm_madd_epi16(_mm_packs_epi32(a, b), _mm_set1_epi32(1 << 16 | 10000)));
  return out;
#else
  const auto kept = [](const char* p, std::uint64_t mask) {
    return static_cast<std::uint32_t>(eight_digits(load_eight(p) & mask));
  };
  return {{kept(e0 - 8, keep.low[n0]), kept(e1 - 8, keep.low[n1]), kept(e2 - 16, keep.high[n2]),
           kept(e2 - 8, keep.low[n2])}};
#endif
}

struct fast_line {
  std::uint64_t row = 0, col = 0;
  double value = 0;
};

/// The line at `p`: its numbers with one space between them, indices of at most 8 digits, values of at most 7 digits
/// before and 16 behind the point and 3 in the exponent. Returns the next line, or nullptr where it looks different,
/// be it wrong or not. 16 characters before and 64 behind `p` must be readable.
template <bool Valued>
__attribute__((always_inline)) inline const char* scan_line(const char* p, fast_line& out, const power_table& powers) {
  const auto [other, ends] = look_ahead(p);
  const auto length = static_cast<unsigned>(std::countr_zero(ends)); // all that the next line waits for
  const auto first = static_cast<unsigned>(std::countr_zero(other));
  const std::uint64_t later = other & (other - 1);
  if (later == 0) [[unlikely]]
    return nullptr;
  const auto second = static_cast<unsigned>(std::countr_zero(later));
  if (first - 1 > 7 || second - first - 2 > 7 || p[first] != ' ') [[unlikely]]
    return nullptr;
  if constexpr (!Valued) {
    out.row = number_before(p + first, first);
    out.col = number_before(p + second, second - first - 1);
    return second == length && p[length] == '\n' ? p + length + 1 : nullptr;
  }
  if (p[second] != ' ') [[unlikely]]
    return nullptr;
  const bool negative = p[second + 1] == '-';
  const unsigned begin = second + 1 + negative;
  const auto whole = static_cast<unsigned>(std::countr_zero(other >> begin));
  const unsigned fraction = begin + whole + (p[begin + whole] == '.');
  const auto digits = static_cast<unsigned>(std::countr_zero(other >> (fraction & 63)));
  unsigned end = fraction + digits;
  if (whole > 7 || digits > 16 || whole + digits - 1 > 18) [[unlikely]]
    return nullptr;
  const four_numbers four = numbers_of_line(p + first, first, p + second, second - first - 1, p + end, digits);
  out.row = four.value[0], out.col = four.value[1];
  const std::uint64_t high = four.value[2], low = four.value[3];
  const std::uint64_t leading =
      whole == 1 ? static_cast<std::uint64_t>(p[begin] - '0') : number_before(p + begin + whole, whole);
  const std::uint64_t w = leading * whole_ten_to[digits] + high * 100000000 + low;
  int q = -static_cast<int>(digits);
  if (end != length) [[unlikely]] {
    if ((p[end] | 0x20) == 'e') {
      const bool below = p[end + 1] == '-';
      const unsigned from = end + 1 + (below || p[end + 1] == '+');
      const auto n = static_cast<unsigned>(std::countr_zero(other >> (from & 63)));
      if (n - 1 > 2) return nullptr;
      end = from + n;
      const int exponent = static_cast<int>(number_before(p + end, n));
      q += below ? -exponent : exponent;
    }
    end += p[end] == '\r';
    if (end != length) return nullptr;
  }
  if (!compose_value(w, q, negative, out.value, powers)) return nullptr;
  return p[length] == '\n' ? p + length + 1 : nullptr;
}

} // namespace furrow::io
