// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "formats/csr/cpu_rows_avx2.hpp"

/// A block of rows of ell with AVX2, four rows a vector.
namespace furrow::ell_rows::avx2 {

#define FURROW_HERE FURROW_AVX2 inline __attribute__((always_inline))

FURROW_HERE __m256d load4(const double* at) { return _mm256_loadu_pd(at); }
FURROW_HERE __m128 load4(const float* at) { return _mm_loadu_ps(at); }
FURROW_HERE void store4(double* at, __m256d v) { _mm256_storeu_pd(at, v); }
FURROW_HERE void store4(float* at, __m128 v) { _mm_storeu_ps(at, v); }
FURROW_HERE __m256d fma4(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
FURROW_HERE __m128 fma4(__m128 a, __m128 b, __m128 c) { return _mm_fmadd_ps(a, b, c); }
FURROW_HERE double fma1(double a, double b, double c) { return __builtin_fma(a, b, c); }
FURROW_HERE float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// x[col] of four columns; 0 for those that are negative, whose x is not read.
FURROW_HERE __m256d masked4(const double* x, const std::int32_t* col) {
  const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(col));
  const __m256i mask = _mm256_cvtepi32_epi64(_mm_cmpgt_epi32(c, _mm_set1_epi32(-1)));
  return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, c, _mm256_castsi256_pd(mask), 8);
}
FURROW_HERE __m128 masked4(const float* x, const std::int32_t* col) {
  const __m128i c = _mm_loadu_si128(reinterpret_cast<const __m128i*>(col));
  return _mm_mask_i32gather_ps(_mm_setzero_ps(), x, c, _mm_castsi128_ps(_mm_cmpgt_epi32(c, _mm_set1_epi32(-1))), 4);
}

struct masked {
  template <class V>
  FURROW_AVX2 static inline __attribute__((always_inline)) auto four(const V* x, const std::int32_t* col) {
    return masked4(x, col);
  }
};

/// out += N columns of places, which lie `stride` apart.
template <class X, int N, class V>
FURROW_HERE void add(const std::int32_t* col, const V* val, index_t stride, index_t count, const V* x, V* out) {
  index_t i = 0;
  for (; i + 4 <= count; i += 4) {
    auto sum = load4(out + i);
    for (int n = 0; n < N; ++n) sum = fma4(X::four(x, col + n * stride + i), load4(val + n * stride + i), sum);
    store4(out + i, sum);
  }
  for (; i < count; ++i)
    for (int n = 0; n < N; ++n)
      if (const std::int32_t c = col[n * stride + i]; c >= 0) out[i] = fma1(val[n * stride + i], x[c], out[i]);
}

/// Negative where one of the columns is padding (`any`), or all are.
struct signs {
  std::int32_t any, all;
};
FURROW_HERE signs look(const std::int32_t* col, index_t count) {
  std::int32_t any = 0, all = -1;
#pragma omp simd reduction(| : any) reduction(& : all)
  for (index_t i = 0; i < count; ++i) {
    any |= col[i];
    all &= col[i];
  }
  return {any, all};
}

template <class X, class V>
FURROW_AVX2 void block(const ell<V, cview>& a, index_t row, index_t count, const V* x, V* out) {
  const index_t stride = a.stride;
  const std::int32_t* const col = a.col.data + row;
  const V* const val = a.val.data + row;
  std::fill_n(out, count, V(0));
  index_t k = 0, full = 0;
  while (k < a.width) {
    signs s{};
    while (full < a.width && full < k + 4 && (s = look(col + full * stride, count)).any >= 0) ++full;
    const std::int32_t* const c = col + k * stride;
    const V* const v = val + k * stride;
    switch (full - k) {
    case 4:
      add<X, 4>(c, v, stride, count, x, out);
      break;
    case 3:
      add<X, 3>(c, v, stride, count, x, out);
      break;
    case 2:
      add<X, 2>(c, v, stride, count, x, out);
      break;
    case 1:
      add<X, 1>(c, v, stride, count, x, out);
      break;
    default:
      if (s.all < 0) return;
      add<masked, 1>(c, v, stride, count, x, out);
      full = k + 1;
      break;
    }
    k = full;
  }
}

#undef FURROW_HERE

} // namespace furrow::ell_rows::avx2
