// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"
#include "fast_line.hpp"
#include "parse_lines.hpp"

#include <limits>

#ifdef FURROW_AVX512_BITS
#include <immintrin.h>

/// Lines "row column value" by eight, for processors that compress, expand and count bits in vectors.
///
/// A window of text becomes a mask of its digits, a bit a character, and a list of its lines. The masks of eight lines
/// stand side by side in a vector of 64-bit lanes, in which a few dozen operations work out where all their numbers
/// begin and end. Then the digits of each line are pushed together and pulled apart again into fields of 8 (row), 8
/// (column), 24 (value) and 8 (exponent) digits, one chain of products turns the fields into numbers, and these stand
/// side by side again for the rest. Hardly a branch depends on the text, and no line waits for the one before.
namespace furrow::io {

/// Where the lines of a piece of text are, and its digits.
struct text_window {
  static constexpr std::ptrdiff_t size = 4096;     ///< characters
  alignas(64) std::uint64_t digits[size / 64 + 1]; ///< a bit a character; and room for a load that begins in the last
  alignas(64) std::uint32_t start[size + 16];      ///< of every line, and of what follows the last line end
  int lines = 0;
};

/// Reads `text_window::size` characters from `p` on.
FURROW_AVX512_BITS inline void scan_window(const char* p, text_window& w) {
  const __m512i place =
      _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40,
                      39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
                      15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  std::uint32_t* next = w.start;
  *next++ = 0;
  for (int b = 0; b < text_window::size / 64; ++b) {
    const __m512i text = _mm512_loadu_si512(p + 64 * b);
    w.digits[b] =
        _cvtmask64_u64(_mm512_cmplt_epu8_mask(_mm512_sub_epi8(text, _mm512_set1_epi8('0')), _mm512_set1_epi8(10)));
    __mmask64 ends = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('\n'));
    const __m512i behind = _mm512_set1_epi32(64 * b + 1);
    const auto count = std::popcount(_cvtmask64_u64(ends));
    __m512i places = _mm512_maskz_compress_epi8(ends, place);
    for (int k = 0; k < count; k += 16) { // once, but for lines of less than four characters
      _mm512_storeu_si512(next + k, _mm512_add_epi32(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(places)), behind));
      places = _mm512_shuffle_i64x2(places, places, 1 | 2 << 2 | 3 << 4);
    }
    next += count;
  }
  w.digits[text_window::size / 64] = 0;
  w.lines = static_cast<int>(next - w.start) - 1;
}

/// Bits of the last `n` places of the field [from, from + width).
FURROW_AVX512_BITS inline __m512i last_places(int from, int width, __m512i n) {
  const std::uint64_t field = ((std::uint64_t(1) << width) - 1) << from;
  const auto behind = static_cast<std::int64_t>(field << width); // NOLINT(bugprone-misplaced-widening-cast)
  return _mm512_and_si512(_mm512_srlv_epi64(_mm512_set1_epi64(behind), n),
                          _mm512_set1_epi64(static_cast<long long>(field)));
}
FURROW_AVX512_BITS inline __m512i lowest_bit(__m512i x) {
  return _mm512_and_si512(x, _mm512_sub_epi64(_mm512_setzero_si512(), x));
}
FURROW_AVX512_BITS inline __m512i bits_below(__m512i bit) { return _mm512_sub_epi64(bit, _mm512_set1_epi64(1)); }

/// 10^n for 0 <= n <= 22.
FURROW_AVX512_BITS inline __m512d ten_to_the(__m512i n) {
  const __m512d low = _mm512_setr_pd(1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7);
  const __m512d middle = _mm512_setr_pd(1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15);
  const __m512d high = _mm512_setr_pd(1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 0);
  const __mmask8 above = _mm512_cmpgt_epu64_mask(n, _mm512_set1_epi64(15));
  return _mm512_mask_permutexvar_pd(_mm512_permutex2var_pd(low, n, middle), above, n, high);
}

/// The digits of a line in their fields, as numbers below 10^4: four of each two fields in a row.
FURROW_AVX512_BITS inline __m512i thousands(__m512i text, std::uint64_t digits, std::uint64_t fields) {
  const __m512i together = _mm512_maskz_compress_epi8(_cvtu64_mask64(digits), text);
  const __m512i apart = _mm512_maskz_expand_epi8(_cvtu64_mask64(fields), together);
  const __m512i tens =
      _mm512_maddubs_epi16(_mm512_and_si512(apart, _mm512_set1_epi8(0x0F)), _mm512_set1_epi16(1 << 8 | 10));
  return _mm512_madd_epi16(tens, _mm512_set1_epi32(1 << 16 | 100));
}

/// Part L (128 bits) of each of the four, one behind the other.
template <int L> FURROW_AVX512_BITS __m512i same_lanes(const __m512i (&v)[4]) {
  const __m512i ab = _mm512_shuffle_i64x2(v[0], v[1], L | L << 4), cd = _mm512_shuffle_i64x2(v[2], v[3], L | L << 4);
  return _mm512_shuffle_i64x2(ab, cd, 2 << 2 | 2 << 6);
}

/// Reads eight lines of a window that begins at `text`, from line `from` on: indices of at most 8 digits, one space,
/// values of at most 19 digits with or without sign and point, and behind a point with or without an exponent; 56
/// characters at most. Writes rows and columns, counted from 0, and values. False where a line looks different or an
/// index is outside `limits`.
template <bool Valued>
FURROW_AVX512_BITS FURROW_INLINE inline bool scan_eight_lines(const char* text, const text_window& window, int from,
                                                              shape2 limits, std::int32_t* row, std::int32_t* col,
                                                              double* val, const power_table& powers) {
  const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi64(1);
  const std::uint32_t* const start = window.start + from;
  const __m512i begin = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(start)));
  const __m512i next = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(start + 1)));
  const __m512i length = _mm512_sub_epi64(next, _mm512_add_epi64(begin, one));
  const __m512i end = _mm512_sllv_epi64(one, length), inside = bits_below(end);
  const __m512i bytes = _mm512_i64gather_epi64(_mm512_srli_epi64(begin, 3), window.digits, 1);
  const __m512i digits =
      _mm512_and_si512(_mm512_srlv_epi64(bytes, _mm512_and_si512(begin, _mm512_set1_epi64(7))), inside);
  const __m512i other = _mm512_andnot_si512(digits, inside);
  const __m512i first = lowest_bit(other), after_row = _mm512_xor_si512(other, first);
  const __m512i second = lowest_bit(after_row); // none in a pattern, where digits go on to the end
  const __m512i row_digits = _mm512_popcnt_epi64(bits_below(first));
  const __m512i index_digits =
      Valued ? _mm512_popcnt_epi64(_mm512_and_si512(digits, bits_below(second))) : _mm512_sub_epi64(length, one);
  const __m512i col_digits = _mm512_sub_epi64(index_digits, row_digits);
  const __m512i most = _mm512_set1_epi64(7);
  unsigned odd = _mm512_cmpgt_epu64_mask(length, _mm512_set1_epi64(56)) |
                 _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(row_digits, one), most) |
                 _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(col_digits, one), most);
  __m512i fields = _mm512_or_si512(last_places(0, 8, row_digits), last_places(8, 8, col_digits));

  // How many marks there are, and where, is the masks' to say: to the characters, a zero byte would be none.
  __mmask8 negative = 0, pointed = 0, scaled = 0, exponent_signed = 0;
  __m512i fraction = zero;
  if constexpr (!Valued) {
    odd |= _mm512_cmpneq_epi64_mask(other, first);
  } else {
    const __m512i after_col = _mm512_xor_si512(after_row, second), sign = _mm512_add_epi64(second, second);
    negative = _mm512_test_epi64_mask(after_col, sign);
    const __m512i marks = _mm512_andnot_si512(sign, after_col);
    const __m512i point = lowest_bit(marks), after_point = _mm512_xor_si512(marks, point);
    pointed = _mm512_test_epi64_mask(point, point);
    const __m512i letter = lowest_bit(after_point), after_letter = _mm512_xor_si512(after_point, letter);
    scaled = _mm512_test_epi64_mask(letter, letter);
    exponent_signed = _mm512_test_epi64_mask(after_letter, after_letter);
    odd |= _mm512_mask_cmpneq_epi64_mask(exponent_signed, after_letter, _mm512_add_epi64(letter, letter));
    const __m512i value = _mm512_and_si512(digits, bits_below(letter)); // all digits where there is no letter
    fraction = _mm512_popcnt_epi64(
        _mm512_and_si512(value, _mm512_sub_epi64(zero, _mm512_add_epi64(point, point)))); // none without a point
    const __m512i count = _mm512_popcnt_epi64(value);
    const __m512i value_digits = _mm512_sub_epi64(count, index_digits);
    const __m512i exponent_digits = _mm512_sub_epi64(_mm512_popcnt_epi64(digits), count);
    odd |= _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(value_digits, one), _mm512_set1_epi64(18)) |
           _mm512_mask_cmpgt_epu64_mask(scaled, _mm512_sub_epi64(exponent_digits, one), _mm512_set1_epi64(2));
    fields =
        _mm512_ternarylogic_epi64(fields, last_places(16, 24, value_digits), last_places(40, 8, exponent_digits), 0xFE);
  }

  alignas(64) std::uint64_t digit_masks[8], field_masks[8], other_masks[8];
  _mm512_store_si512(digit_masks, digits);
  _mm512_store_si512(other_masks, other);
  _mm512_store_si512(field_masks, fields);
  asm volatile("" ::: "memory"); // or the compiler takes them out of the vectors, which is slower than to load them
  __m512i numbers[4];
  __m128i two_marks[4]; // the characters that are no digits, eight bytes a line
  for (int k = 0; k < 8; k += 2) {
    const __m512i a = _mm512_loadu_si512(text + start[k]), b = _mm512_loadu_si512(text + start[k + 1]);
    const __m512i a_marks = _mm512_maskz_compress_epi8(_cvtu64_mask64(other_masks[k]), a);
    const __m512i b_marks = _mm512_maskz_compress_epi8(_cvtu64_mask64(other_masks[k + 1]), b);
    two_marks[k / 2] = _mm_unpacklo_epi64(_mm512_castsi512_si128(a_marks), _mm512_castsi512_si128(b_marks));
    const __m512i both = _mm512_packus_epi32(thousands(a, digit_masks[k], field_masks[k]),
                                             thousands(b, digit_masks[k + 1], field_masks[k + 1]));
    numbers[k / 2] = _mm512_madd_epi16(both, _mm512_set1_epi32(1 << 16 | 10000));
  }

  // The marks must be what their places suggest: two spaces, a minus, a point, an e, a sign. There are no others.
  __m512i marks = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(two_marks[1], two_marks[0])),
                                     _mm256_set_m128i(two_marks[3], two_marks[2]), 1);
  const __m512i byte = _mm512_set1_epi64(0xFF);
  const __m512i spaces = _mm512_set1_epi64(Valued ? 0x2020 : 0x20);
  odd |= _mm512_cmpneq_epi64_mask(Valued ? _mm512_and_si512(marks, _mm512_set1_epi64(0xFFFF)) : marks, spaces);
  __mmask8 shrunk = 0; // by a negative exponent
  if constexpr (Valued) {
    marks = _mm512_srli_epi64(marks, 16);
    odd |= _mm512_mask_cmpneq_epi64_mask(negative, _mm512_and_si512(marks, byte), _mm512_set1_epi64('-'));
    marks = _mm512_mask_srli_epi64(marks, negative, marks, 8);
    odd |= _mm512_mask_cmpneq_epi64_mask(pointed, _mm512_and_si512(marks, byte), _mm512_set1_epi64('.'));
    marks = _mm512_mask_srli_epi64(marks, pointed, marks, 8);
    odd |=
        _mm512_mask_cmpneq_epi64_mask(scaled, _mm512_and_si512(marks, _mm512_set1_epi64(0xDF)), _mm512_set1_epi64('E'));
    marks = _mm512_mask_srli_epi64(marks, scaled, marks, 8);
    shrunk = _mm512_mask_cmpeq_epi64_mask(exponent_signed, marks, _mm512_set1_epi64('-'));
    odd |= _mm512_mask_cmpneq_epi64_mask(_kandn_mask8(shrunk, exponent_signed), marks, _mm512_set1_epi64('+'));
  }

  const __m512i indices = _mm512_sub_epi32(same_lanes<0>(numbers), _mm512_set1_epi32(1));
  const auto rows = static_cast<std::uint64_t>(limits.rows), cols = static_cast<std::uint64_t>(limits.cols);
  const __mmask16 outside =
      _mm512_cmpge_epu32_mask(indices, _mm512_set1_epi64(static_cast<long long>(rows | cols << 32)));
  if ((odd | outside) != 0) [[unlikely]]
    return false;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(row), _mm512_cvtepi64_epi32(indices));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(col), _mm512_cvtepi64_epi32(_mm512_srli_epi64(indices, 32)));

  if constexpr (Valued) {
    const __m512i high = same_lanes<1>(numbers), low = same_lanes<2>(numbers);
    const __m512i hundred_million = _mm512_set1_epi64(100000000), half = _mm512_set1_epi64(0xFFFFFFFF);
    const __m512i upper = _mm512_add_epi64(_mm512_mul_epu32(high, hundred_million), _mm512_srli_epi64(high, 32));
    const __m512i w = _mm512_add_epi64(_mm512_mullo_epi64(upper, hundred_million), _mm512_and_si512(low, half));
    const __m512i exponent = _mm512_srli_epi64(low, 32);
    const __m512i scale = _mm512_mask_sub_epi64(exponent, shrunk, zero, exponent);
    const __m512i q = _mm512_sub_epi64(scale, fraction);
    const __m512i up = _mm512_max_epi64(q, zero), down = _mm512_max_epi64(_mm512_sub_epi64(zero, q), zero);
    const unsigned inexact = _mm512_cmpgt_epu64_mask(w, _mm512_set1_epi64(std::int64_t(1) << 53)) |
                             _mm512_cmpgt_epi64_mask(_mm512_or_si512(up, down), _mm512_set1_epi64(22));
    // One of the two powers is 1 and all factors are exact: one rounding.
    const __m512d size = _mm512_div_pd(_mm512_mul_pd(_mm512_cvtepu64_pd(w), ten_to_the(up)), ten_to_the(down));
    const __m512i bits = _mm512_castpd_si512(size);
    const __m512i minus = _mm512_set1_epi64(std::numeric_limits<std::int64_t>::min());
    _mm512_storeu_si512(val, _mm512_mask_or_epi64(bits, negative, bits, minus));
    if (inexact != 0) {
      alignas(64) std::uint64_t digits_of[8];
      alignas(64) std::int64_t power_of[8];
      _mm512_store_si512(digits_of, w);
      _mm512_store_si512(power_of, q);
      for (unsigned left = inexact; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        if (!compose_value(digits_of[k], static_cast<int>(power_of[k]), (negative >> k & 1) != 0, val[k], powers))
          return false;
      }
    }
  }
  return true;
}

inline bool has_eight_lines() { return cpu::has_vector_bits(); }

/// Reads lines from `p` to entry `k` and behind until eight of them are not as usual or the end is near. Returns the
/// next line.
template <bool Valued>
FURROW_AVX512_BITS const char* scan_by_eight(const char* p, const char* end, shape2 limits, scratch& to, index_t& k,
                                             const power_table& powers) {
  text_window window;
  while (end - p >= text_window::size) {
    scan_window(p, window);
    int line = 0;
    for (; line + 8 <= window.lines; line += 8, k += 8)
      if (!scan_eight_lines<Valued>(p, window, line, limits, to.row.data() + k, to.col.data() + k,
                                    Valued ? to.val.data() + k : nullptr, powers))
        return p + window.start[line];
    if (line == 0) break;
    p += window.start[line];
  }
  return p;
}

} // namespace furrow::io
#else
namespace furrow::io {

inline bool has_eight_lines() { return false; }
template <bool Valued>
const char* scan_by_eight(const char* p, const char*, shape2, scratch&, index_t&, const power_table&) {
  return p;
}

} // namespace furrow::io
#endif
