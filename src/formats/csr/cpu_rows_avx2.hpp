// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/prefetch.hpp"

#include <furrow/value.hpp>

#include <cstring>
#include <immintrin.h>

/// csr_rows::direct and csr_rows::gathered with AVX2. Four elements of x make a vector of four doubles or four floats.
namespace furrow::csr_rows::avx2 {

#define FURROW_HERE FURROW_AVX2 inline __attribute__((always_inline))

/// Two columns in one load; the lower half is the first.
FURROW_HERE std::uint64_t two_columns(const std::int32_t* col) {
  std::uint64_t both;
  std::memcpy(&both, col, sizeof both);
  return both;
}

FURROW_HERE __m128d pick2(const double* x, const std::int32_t* col) {
  const std::uint64_t both = two_columns(col);
  return _mm_loadh_pd(_mm_load_sd(x + static_cast<std::uint32_t>(both)), x + (both >> 32));
}
FURROW_HERE __m256d pick4(const double* x, const std::int32_t* col) {
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(pick2(x, col)), pick2(x, col + 2), 1);
}
FURROW_HERE __m128 pick2(const float* x, const std::int32_t* col) {
  const std::uint64_t both = two_columns(col);
  return _mm_insert_ps(_mm_load_ss(x + static_cast<std::uint32_t>(both)), _mm_load_ss(x + (both >> 32)), 0x10);
}
FURROW_HERE __m128 pick4(const float* x, const std::int32_t* col) {
  const std::uint64_t lower = two_columns(col), upper = two_columns(col + 2);
  __m128 four = _mm_load_ss(x + static_cast<std::uint32_t>(lower));
  four = _mm_insert_ps(four, _mm_load_ss(x + (lower >> 32)), 0x10);
  four = _mm_insert_ps(four, _mm_load_ss(x + static_cast<std::uint32_t>(upper)), 0x20);
  return _mm_insert_ps(four, _mm_load_ss(x + (upper >> 32)), 0x30);
}

/// How four elements of x come into a register: by single loads, or by one gather instruction.
struct by_loads {
  template <class V>
  FURROW_AVX2 static inline __attribute__((always_inline)) auto four(const V* x, const std::int32_t* col) {
    return pick4(x, col);
  }
};
struct by_gather {
  FURROW_AVX2 static inline __attribute__((always_inline)) __m256d four(const double* x, const std::int32_t* col) {
    return _mm256_i32gather_pd(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(col)), 8);
  }
  FURROW_AVX2 static inline __attribute__((always_inline)) __m128 four(const float* x, const std::int32_t* col) {
    return _mm_i32gather_ps(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(col)), 4);
  }
};

FURROW_HERE double total(__m128d s) { return _mm_cvtsd_f64(_mm_add_pd(s, _mm_unpackhi_pd(s, s))); }

template <class X>
FURROW_HERE double row(const std::int32_t* col, const double* val, index_t k, index_t end, const double* x) {
  __m128d s = _mm_setzero_pd();
  if (k + 8 <= end) {
    __m256d a = _mm256_setzero_pd(), b = a;
    do {
      cpu::prefetch(col + k);
      cpu::prefetch(val + k);
      a = _mm256_fmadd_pd(X::four(x, col + k), _mm256_loadu_pd(val + k), a);
      b = _mm256_fmadd_pd(X::four(x, col + k + 4), _mm256_loadu_pd(val + k + 4), b);
      k += 8;
    } while (k + 8 <= end);
    if (k + 4 <= end) {
      a = _mm256_fmadd_pd(X::four(x, col + k), _mm256_loadu_pd(val + k), a);
      k += 4;
    }
    a = _mm256_add_pd(a, b);
    s = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
  } else if (k + 4 <= end) {
    const __m128d low = _mm_mul_pd(pick2(x, col + k), _mm_loadu_pd(val + k));
    const __m128d high = _mm_mul_pd(pick2(x, col + k + 2), _mm_loadu_pd(val + k + 2));
    s = _mm_add_pd(low, high);
    k += 4;
  }
  if (k + 2 <= end) {
    s = _mm_fmadd_pd(pick2(x, col + k), _mm_loadu_pd(val + k), s);
    k += 2;
  }
  if (k < end) s = _mm_fmadd_pd(_mm_load_sd(x + col[k]), _mm_load_sd(val + k), s);
  return total(s);
}

FURROW_HERE float total(__m128 s) {
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

template <class X>
FURROW_HERE float row(const std::int32_t* col, const float* val, index_t k, index_t end, const float* x) {
  __m128 s = _mm_setzero_ps();
  if (k + 8 <= end) {
    __m128 t = s;
    do {
      cpu::prefetch(col + k);
      cpu::prefetch(val + k);
      s = _mm_fmadd_ps(X::four(x, col + k), _mm_loadu_ps(val + k), s);
      t = _mm_fmadd_ps(X::four(x, col + k + 4), _mm_loadu_ps(val + k + 4), t);
      k += 8;
    } while (k + 8 <= end);
    s = _mm_add_ps(s, t);
  }
  if (k + 4 <= end) {
    s = _mm_fmadd_ps(X::four(x, col + k), _mm_loadu_ps(val + k), s);
    k += 4;
  }
  if (k + 2 <= end) {
    s = _mm_fmadd_ps(pick2(x, col + k), _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(val + k))),
                     s);
    k += 2;
  }
  if (k < end) s = _mm_fmadd_ps(_mm_load_ss(x + col[k]), _mm_load_ss(val + k), s);
  return total(s);
}

template <class X, class V, class I>
FURROW_AVX2 void rows(const csr<V, I, cview>& a, index_t first, index_t last, const V* x, V* out) {
  const std::int32_t* const col = a.col.data;
  const V* const val = a.val.data;
  index_t k = a.row_ptr[first];
  for (index_t r = first; r < last; ++r) {
    const index_t end = a.row_ptr[r + 1];
    if constexpr (is_wide<V>) { // short rows of floats end before it pays
      cpu::prefetch(col + k);
      cpu::prefetch(val + k);
    }
    out[r - first] = row<X>(col, val, k, end, x);
    k = end;
  }
}

#undef FURROW_HERE

} // namespace furrow::csr_rows::avx2
