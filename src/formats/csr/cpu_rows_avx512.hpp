// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cpu_rows_avx2.hpp"

#include <algorithm>

/// csr_rows::staged with AVX-512. Products and sums are doubles also where the matrix holds floats: the products are
/// then exact.
namespace furrow::csr_rows::avx512 {

#define FURROW_HERE FURROW_AVX512 inline __attribute__((always_inline))

inline constexpr index_t longest = 64; ///< entries of a row that goes through the buffer
inline constexpr index_t batch = 32;   ///< rows whose products are in the buffer
inline constexpr index_t capacity = batch * longest;

/// A product that is rounded before it is added to anything: the compiler must not make an FMA of the two.
FURROW_HERE __m512d rounded_product(__m512d a, __m512d b) {
  return _mm512_mul_round_pd(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// Products of eight entries from k on.
FURROW_HERE __m512d products(const std::int32_t* col, const double* val, const double* x) {
  const __m256d low = avx2::pick4(x, col), high = avx2::pick4(x, col + 4);
  return rounded_product(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1), _mm512_loadu_pd(val));
}
FURROW_HERE __m512d products(const std::int32_t* col, const float* val, const float* x) {
  const __m256 eight = _mm256_insertf128_ps(_mm256_castps128_ps256(avx2::pick4(x, col)), avx2::pick4(x, col + 4), 1);
  return rounded_product(_mm512_cvtps_pd(eight), _mm512_cvtps_pd(_mm256_loadu_ps(val)));
}
/// Of those entries that are in the mask; the others are neither read nor defined.
FURROW_HERE __m512d products(__mmask8 mask, const std::int32_t* col, const double* val, const double* x) {
  const __m256i at = _mm256_maskz_loadu_epi32(mask, col);
  return rounded_product(_mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, at, x, 8),
                         _mm512_maskz_loadu_pd(mask, val));
}
FURROW_HERE __m512d products(__mmask8 mask, const std::int32_t* col, const float* val, const float* x) {
  const __m256i at = _mm256_maskz_loadu_epi32(mask, col);
  return rounded_product(_mm512_cvtps_pd(_mm256_mmask_i32gather_ps(_mm256_setzero_ps(), mask, at, x, 4)),
                         _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask, val)));
}

/// Element i is the sum of a[i]: neighbours, then pairs of neighbours, then halves.
FURROW_HERE __m512d sum_each(const __m512d* a) {
  __m512d pair[4], four[2];
  for (int i = 0; i < 4; ++i)
    pair[i] = _mm512_add_pd(_mm512_unpacklo_pd(a[2 * i], a[2 * i + 1]), _mm512_unpackhi_pd(a[2 * i], a[2 * i + 1]));
  for (int i = 0; i < 2; ++i)
    four[i] = _mm512_add_pd(_mm512_shuffle_f64x2(pair[2 * i], pair[2 * i + 1], 0x88),
                            _mm512_shuffle_f64x2(pair[2 * i], pair[2 * i + 1], 0xdd));
  return _mm512_add_pd(_mm512_shuffle_f64x2(four[0], four[1], 0x88), _mm512_shuffle_f64x2(four[0], four[1], 0xdd));
}

FURROW_HERE void put(double* out, __m512d sums) { _mm512_storeu_pd(out, sums); }
FURROW_HERE void put(float* out, __m512d sums) { _mm256_storeu_ps(out, _mm512_cvtpd_ps(sums)); }

/// Sums of eight rows of at most 8 * Steps entries each; entry k has its product at buffer[k - begin].
template <int Steps, class V, class I>
FURROW_HERE void eight_rows(const I* row_ptr, const double* buffer, index_t begin, V* out) {
  __m512d a[8];
  for (int i = 0; i < 8; ++i) {
    const double* const at = buffer + (row_ptr[i] - begin);
    const std::uint64_t mask = _bzhi_u64(~std::uint64_t(0), static_cast<std::uint64_t>(row_ptr[i + 1] - row_ptr[i]));
    a[i] = _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), at);
    for (int s = 1; s < Steps; ++s)
      a[i] = _mm512_mask_add_pd(a[i], static_cast<__mmask8>(mask >> 8 * s), a[i], _mm512_loadu_pd(at + 8 * s));
  }
  put(out, sum_each(a));
}

/// The same for rows of any length, with the bits of `one_row`.
template <class V, class I>
FURROW_HERE void eight_long_rows(const I* row_ptr, const double* buffer, index_t begin, V* out) {
  __m512d a[8];
  for (int i = 0; i < 8; ++i) {
    const double* at = buffer + (row_ptr[i] - begin);
    index_t left = row_ptr[i + 1] - row_ptr[i];
    a[i] = _mm512_setzero_pd();
    for (; left >= 8; left -= 8, at += 8) a[i] = _mm512_add_pd(a[i], _mm512_loadu_pd(at));
    const auto mask = static_cast<__mmask8>((1 << left) - 1);
    a[i] = _mm512_mask_add_pd(a[i], mask, a[i], _mm512_loadu_pd(at));
  }
  put(out, sum_each(a));
}

template <class I> FURROW_HERE index_t longest_of_eight(const I* row_ptr) {
  index_t most = 0;
  for (int i = 0; i < 8; ++i) most = std::max<index_t>(most, row_ptr[i + 1] - row_ptr[i]);
  return most;
}

/// One row straight from the matrix, its entries added in the order of `eight_rows`.
template <class V, class I> FURROW_AVX512 V one_row(const csr<V, I, cview>& m, index_t row, const V* x) {
  const std::int32_t* const col = m.col.data;
  const V* const val = m.val.data;
  index_t k = m.row_ptr[row];
  const index_t end = m.row_ptr[row + 1];
  __m512d sum = _mm512_setzero_pd();
  for (; k + 8 <= end; k += 8) sum = _mm512_add_pd(sum, products(col + k, val + k, x));
  if (k < end) {
    const auto mask = static_cast<__mmask8>((1 << (end - k)) - 1);
    sum = _mm512_mask_add_pd(sum, mask, sum, products(mask, col + k, val + k, x));
  }
  const __m512d a[8] = {sum, sum, sum, sum, sum, sum, sum, sum};
  return static_cast<V>(_mm512_cvtsd_f64(sum_each(a)));
}

template <class V, class I>
FURROW_AVX512 void rows(const csr<V, I, cview>& a, index_t first, index_t last, const V* x, V* out) {
  alignas(64) double buffer[capacity + longest];
  const std::int32_t* const col = a.col.data;
  const V* const val = a.val.data;
  const index_t safe = a.val.size - 8; // a step that begins here ends inside the arrays
  for (index_t row = first; row < last; row += batch) {
    const index_t end = std::min(row + batch, last);
    const index_t begin_entry = a.row_ptr[row], end_entry = a.row_ptr[end];
    const bool fits = end_entry - begin_entry <= capacity && end_entry <= safe;
    if (fits)
      for (index_t k = begin_entry; k < end_entry; k += 8) {
        cpu::prefetch(col + k);
        cpu::prefetch(val + k);
        _mm512_storeu_pd(buffer + (k - begin_entry), products(col + k, val + k, x));
      }
    for (index_t eight = row; eight < end; eight += 8) {
      const I* const ptr = a.row_ptr.data + eight;
      V* const to = out + (eight - first);
      const bool buffered = fits && eight + 8 <= end;
      const index_t most = buffered ? longest_of_eight(ptr) : longest + 1;
      if (most <= 8) eight_rows<1>(ptr, buffer, begin_entry, to);
      else if (most <= 16) eight_rows<2>(ptr, buffer, begin_entry, to);
      else if (most <= 32) eight_rows<4>(ptr, buffer, begin_entry, to);
      else if (most <= longest) eight_rows<8>(ptr, buffer, begin_entry, to);
      else if (buffered) eight_long_rows(ptr, buffer, begin_entry, to);
      else
        for (index_t r = eight; r < std::min(eight + 8, end); ++r) to[r - eight] = one_row(a, r, x);
    }
  }
}

#undef FURROW_HERE

} // namespace furrow::csr_rows::avx512
