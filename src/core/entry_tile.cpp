// SPDX-License-Identifier: BSD-3-Clause
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "entry_tile.hpp"

#include "row_sum.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace furrow {
namespace {

/// column minus row, of any two numbers.
std::int32_t offset_of(std::int32_t row, std::int32_t col) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(col) - static_cast<std::uint32_t>(row));
}

void take(entry_tile& to, index_t k, std::int32_t offset) {
  to.offset[static_cast<std::size_t>(k)] = offset;
  to.on_diagonal += offset == 0;
  to.least_offset = std::min(to.least_offset, offset);
  to.most_offset = std::max(to.most_offset, offset);
}

/// The triplets from the k-th of the tile on. Without a branch, so that a vector of them is looked at at a time.
bool look_further(shape2 shape, const std::int32_t* row, const std::int32_t* col, index_t k, entry_tile& to) {
  const auto rows = static_cast<std::uint32_t>(shape.rows), cols = static_cast<std::uint32_t>(shape.cols);
  const auto count = static_cast<std::int32_t>(to.count);
  int wrong = 0, on_diagonal = 0;
  std::int32_t least = to.least_offset, most = to.most_offset;
  std::int32_t* const offset = to.offset.data();
  cpu::widest([&]() FURROW_INLINE {
    for (auto i = static_cast<std::int32_t>(k); i < count; ++i) {
      const int low_row = row[i] < row[i - 1], same_row = row[i] == row[i - 1], low_col = col[i] <= col[i - 1];
      const int beyond_rows = static_cast<std::uint32_t>(row[i]) >= rows;
      const int beyond_cols = static_cast<std::uint32_t>(col[i]) >= cols;
      wrong |= beyond_rows | beyond_cols | low_row | (same_row & low_col);
      const std::int32_t d = offset_of(row[i], col[i]);
      offset[i] = d;
      on_diagonal += d == 0;
      least = std::min(least, d);
      most = std::max(most, d);
    }
  });
  to.on_diagonal += on_diagonal;
  to.least_offset = least;
  to.most_offset = most;
  std::int32_t* const start = to.start.data();
  int starts = to.starts;
  for (auto i = static_cast<std::int32_t>(k); i < count; ++i) {
    start[starts] = i;
    starts += row[i] != row[i - 1];
  }
  to.starts = starts;
  return wrong == 0;
}

/// Without a branch.
template <class V> void look_at_some(const V* val, index_t count, value_sums& to) {
  double largest = to.largest;
  int zeros = 0, not_finite = 0;
  cpu::widest([&]() FURROW_INLINE {
#pragma omp simd reduction(max : largest) reduction(+ : zeros) reduction(| : not_finite)
    for (index_t k = 0; k < count; ++k) {
      const double size = std::abs(double(val[k]));
      largest = largest < size ? size : largest;
      zeros += size == 0;
      not_finite |= !(size <= std::numeric_limits<double>::max());
    }
  });
  to.largest = largest;
  to.zeros += zeros;
  to.finite = to.finite && !not_finite;
}

template <class V>
double add_up(const std::int32_t* row, const V* val, const entry_tile& t, int from, index_t open,
              std::int32_t* row_length, double largest) {
  cpu::widest([&]() FURROW_INLINE {
    for (int s = from; s < t.starts; ++s) {
      const index_t start = t.start[static_cast<std::size_t>(s)], end = t.begin + start;
      const index_t begin = std::exchange(open, end);
      row_length[row[start - 1]] = static_cast<std::int32_t>(end - begin);
      largest = std::max(
          largest, sum_of_row(end - begin, [&](index_t i) FURROW_INLINE { return std::abs(double(val[begin + i])); }));
    }
  });
  return largest;
}

#if defined(__x86_64__)
#define FURROW_STEP FURROW_AVX512 static inline __attribute__((always_inline))

FURROW_AVX512 bool look_further_avx512(shape2 shape, const std::int32_t* row, const std::int32_t* col, index_t k,
                                       entry_tile& to) {
  const __m512i rows = _mm512_set1_epi32(static_cast<int>(shape.rows));
  const __m512i cols = _mm512_set1_epi32(static_cast<int>(shape.cols));
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i least = _mm512_set1_epi32(to.least_offset), most = _mm512_set1_epi32(to.most_offset);
  unsigned wrong = 0;
  int starts = to.starts, on_diagonal = 0;
  for (; k < to.count; k += 16) {
    const index_t left = to.count - k;
    const auto in = static_cast<__mmask16>(left < 16 ? (1U << left) - 1 : 0xffffU);
    const __m512i r = _mm512_maskz_loadu_epi32(in, row + k), r_before = _mm512_maskz_loadu_epi32(in, row + k - 1);
    const __m512i c = _mm512_maskz_loadu_epi32(in, col + k), c_before = _mm512_maskz_loadu_epi32(in, col + k - 1);
    const __mmask16 begins = _mm512_mask_cmpneq_epi32_mask(in, r, r_before);
    wrong |= _mm512_mask_cmplt_epi32_mask(in, r, r_before);
    wrong |= _mm512_mask_cmple_epi32_mask(static_cast<__mmask16>(in & ~begins), c, c_before);
    wrong |= _mm512_mask_cmpge_epu32_mask(in, r, rows) | _mm512_mask_cmpge_epu32_mask(in, c, cols);
    const __m512i offset = _mm512_sub_epi32(c, r); // 0 where there is none
    _mm512_storeu_si512(to.offset.data() + k, offset);
    least = _mm512_min_epi32(least, offset);
    most = _mm512_max_epi32(most, offset);
    on_diagonal += __builtin_popcount(_mm512_mask_testn_epi32_mask(in, offset, offset));
    const __m512i at = _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(k)));
    _mm512_storeu_si512(to.start.data() + starts, _mm512_maskz_compress_epi32(begins, at));
    starts += __builtin_popcount(begins);
  }
  to.starts = starts;
  to.on_diagonal += on_diagonal;
  to.least_offset = _mm512_reduce_min_epi32(least);
  to.most_offset = _mm512_reduce_max_epi32(most);
  return wrong == 0;
}

/// |val[0]| to |val[7]|, and 0 for those that are not `in`.
FURROW_STEP __m512d sizes(__mmask8 in, const double* val) { return _mm512_abs_pd(_mm512_maskz_loadu_pd(in, val)); }
FURROW_STEP __m512d sizes(__mmask8 in, const float* val) {
  return _mm512_abs_pd(_mm512_cvtps_pd(_mm256_maskz_loadu_ps(in, val)));
}

template <class V> FURROW_AVX512 void look_at_some_avx512(const V* val, index_t count, value_sums& to) {
  const __m512d most = _mm512_set1_pd(std::numeric_limits<double>::max());
  __m512d largest = _mm512_set1_pd(to.largest);
  unsigned not_finite = 0;
  int zeros = 0;
  for (index_t k = 0; k < count; k += 8) {
    const auto in = static_cast<__mmask8>(count - k < 8 ? (1U << (count - k)) - 1 : 0xffU);
    const __m512d size = sizes(in, val + k);
    largest = _mm512_max_pd(size, largest); // the second one where the first is no number
    zeros += __builtin_popcount(_mm512_mask_cmp_pd_mask(in, size, _mm512_setzero_pd(), _CMP_EQ_OQ));
    not_finite |= _mm512_cmp_pd_mask(size, most, _CMP_NLE_UQ);
  }
  to.largest = _mm512_reduce_max_pd(largest);
  to.zeros += zeros;
  to.finite = to.finite && !not_finite;
}

/// Lanes that are 4, 2 and 1 apart.
FURROW_STEP double total(__m512d lanes) {
  const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(lanes), _mm512_extractf64x4_pd(lanes, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(two) + _mm_cvtsd_f64(_mm_unpackhi_pd(two, two));
}

/// At most `row_sum_piece` entries.
template <class V> FURROW_STEP double sum_of_piece(const V* val, index_t n) {
  const auto first = [](index_t count) { return static_cast<__mmask8>(count < 8 ? (1U << count) - 1 : 0xffU); };
  __m512d lanes = sizes(first(n), val);
  for (index_t k = 8; k < n; k += 8) lanes = _mm512_add_pd(lanes, sizes(first(n - k), val + k));
  return total(lanes);
}
template <class V> FURROW_AVX512 double sum_of_long_row(const V* val, index_t n) {
  double pieces = 0;
  for (; n >= row_sum_piece; n -= row_sum_piece, val += row_sum_piece) pieces += sum_of_piece(val, row_sum_piece);
  return pieces + sum_of_piece(val, n);
}

template <class V>
FURROW_AVX512 double add_up_avx512(const std::int32_t* row, const V* val, const entry_tile& t, int from, index_t open,
                                   std::int32_t* row_length, double largest) {
  for (int s = from; s < t.starts; ++s) {
    const index_t start = t.start[static_cast<std::size_t>(s)], end = t.begin + start, begin = open, n = end - begin;
    open = end;
    row_length[row[start - 1]] = static_cast<std::int32_t>(n);
    double sum;
    if (n <= 16) { // two vectors, one of them perhaps empty: a branch less to mispredict
      const unsigned in = (1U << n) - 1;
      sum = total(_mm512_add_pd(sizes(static_cast<__mmask8>(in), val + begin),
                                sizes(static_cast<__mmask8>(in >> 8), val + begin + 8)));
    } else {
      sum = sum_of_long_row(val + begin, n);
    }
    largest = largest < sum ? sum : largest;
  }
  return largest;
}
#undef FURROW_STEP
#endif

} // namespace

bool look_at_places(shape2 shape, const std::int32_t* row, const std::int32_t* col, index_t begin, index_t count,
                    entry_tile& to) {
  to.begin = begin;
  to.count = count;
  to.starts = to.on_diagonal = to.least_offset = to.most_offset = 0;
  index_t k = 0;
  if (begin == 0 && count > 0) { // no triplet is before it
    if (row[0] < 0 || row[0] >= shape.rows || col[0] < 0 || col[0] >= shape.cols) return false;
    take(to, 0, offset_of(row[0], col[0]));
    to.start[static_cast<std::size_t>(to.starts++)] = 0;
    k = 1;
  }
#if defined(__x86_64__)
  if (cpu::machine_isa() == cpu::isa::avx512) return look_further_avx512(shape, row, col, k, to);
#endif
  return look_further(shape, row, col, k, to);
}

template <class V> void look_at_values(const V* val, index_t count, value_sums& to) {
#if defined(__x86_64__)
  if (cpu::machine_isa() == cpu::isa::avx512) return look_at_some_avx512(val, count, to);
#endif
  look_at_some(val, count, to);
}

template <class V>
double add_up_rows(const std::int32_t* row, const V* val, const entry_tile& t, int from, index_t open,
                   std::int32_t* row_length, double largest) {
#if defined(__x86_64__)
  if (cpu::machine_isa() == cpu::isa::avx512) return add_up_avx512(row, val, t, from, open, row_length, largest);
#endif
  return add_up(row, val, t, from, open, row_length, largest);
}

template void look_at_values(const double*, index_t, value_sums&);
template void look_at_values(const float*, index_t, value_sums&);
template double add_up_rows(const std::int32_t*, const double*, const entry_tile&, int, index_t, std::int32_t*, double);
template double add_up_rows(const std::int32_t*, const float*, const entry_tile&, int, index_t, std::int32_t*, double);

} // namespace furrow
