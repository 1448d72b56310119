// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"
#include "backends/cpu/prefetch.hpp"

#include <furrow/view.hpp>

#include <immintrin.h>

/// Rows of a slice in vector registers. add: sum + val * x[col] for neighbouring rows, 0 * 0 where col is negative;
/// add_run: sum + val * x for consecutive elements of x; add_part: of those the elements [begin, end), no other is
/// read.
namespace furrow::sell_slices {

#define FURROW_STEP(ISA) ISA static inline __attribute__((always_inline))

struct eight_doubles {
  static constexpr index_t rows = 8, registers = 4;
  using sum = __m512d;
  FURROW_STEP(FURROW_AVX512) sum zero() { return _mm512_setzero_pd(); }
  FURROW_STEP(FURROW_AVX512) sum add(sum s, sum t) { return _mm512_add_pd(s, t); }
  FURROW_STEP(FURROW_AVX512) sum start(const double* out) { return _mm512_loadu_pd(out); }
  FURROW_STEP(FURROW_AVX512) sum add(sum s, const std::int32_t* col, const double* val, const double* x) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(col));
    const auto in = static_cast<__mmask8>(~_mm256_movepi32_mask(at));
    return _mm512_fmadd_pd(_mm512_loadu_pd(val), _mm512_mask_i32gather_pd(_mm512_setzero_pd(), in, at, x, 8), s);
  }
  FURROW_STEP(FURROW_AVX512) sum add_run(sum s, const double* val, const double* x) {
    return _mm512_fmadd_pd(_mm512_loadu_pd(val), _mm512_loadu_pd(x), s);
  }
  FURROW_STEP(FURROW_AVX512) sum add_part(sum s, const double* val, const double* x, int begin, int end) {
    const __m512i at = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __mmask8 in =
        _mm512_cmpge_epi64_mask(at, _mm512_set1_epi64(begin)) & _mm512_cmplt_epi64_mask(at, _mm512_set1_epi64(end));
    return _mm512_fmadd_pd(_mm512_loadu_pd(val), _mm512_maskz_loadu_pd(in, x), s);
  }
  FURROW_STEP(FURROW_AVX512) void put(double* out, sum s) { _mm512_storeu_pd(out, s); }
};

struct sixteen_floats {
  static constexpr index_t rows = 16, registers = 2;
  using sum = __m512;
  FURROW_STEP(FURROW_AVX512) sum zero() { return _mm512_setzero_ps(); }
  FURROW_STEP(FURROW_AVX512) sum add(sum s, sum t) { return _mm512_add_ps(s, t); }
  FURROW_STEP(FURROW_AVX512) sum start(const float* out) { return _mm512_loadu_ps(out); }
  FURROW_STEP(FURROW_AVX512) sum add(sum s, const std::int32_t* col, const float* val, const float* x) {
    const __m512i at = _mm512_loadu_si512(col);
    const __m512i following = _mm512_add_epi32(_mm512_set1_epi32(*col),
                                               _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    // Columns that follow one another, as on grids, are one load in place of sixteen.
    if (*col >= 0 && _mm512_cmpeq_epi32_mask(at, following) == 0xffff)
      return _mm512_fmadd_ps(_mm512_loadu_ps(val), _mm512_loadu_ps(x + *col), s);
    const auto in = static_cast<__mmask16>(~_mm512_movepi32_mask(at));
    return _mm512_fmadd_ps(_mm512_loadu_ps(val), _mm512_mask_i32gather_ps(_mm512_setzero_ps(), in, at, x, 4), s);
  }
  FURROW_STEP(FURROW_AVX512) sum add_run(sum s, const float* val, const float* x) {
    return _mm512_fmadd_ps(_mm512_loadu_ps(val), _mm512_loadu_ps(x), s);
  }
  FURROW_STEP(FURROW_AVX512) sum add_part(sum s, const float* val, const float* x, int begin, int end) {
    const __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __mmask16 in =
        _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(begin)) & _mm512_cmplt_epi32_mask(at, _mm512_set1_epi32(end));
    return _mm512_fmadd_ps(_mm512_loadu_ps(val), _mm512_maskz_loadu_ps(in, x), s);
  }
  FURROW_STEP(FURROW_AVX512) void put(float* out, sum s) { _mm512_storeu_ps(out, s); }
};

struct four_doubles {
  static constexpr index_t rows = 4, registers = 4;
  using sum = __m256d;
  FURROW_STEP(FURROW_AVX2) sum zero() { return _mm256_setzero_pd(); }
  FURROW_STEP(FURROW_AVX2) sum add(sum s, sum t) { return _mm256_add_pd(s, t); }
  FURROW_STEP(FURROW_AVX2) sum start(const double* out) { return _mm256_loadu_pd(out); }
  FURROW_STEP(FURROW_AVX2) sum add(sum s, const std::int32_t* col, const double* val, const double* x) {
    const __m128i at = _mm_loadu_si128(reinterpret_cast<const __m128i*>(col));
    const __m128i in = _mm_cmpgt_epi32(at, _mm_set1_epi32(-1));
    const __m256d mask = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(in));
    return _mm256_fmadd_pd(_mm256_loadu_pd(val), _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, at, mask, 8), s);
  }
  FURROW_STEP(FURROW_AVX2) sum add_run(sum s, const double* val, const double* x) {
    return _mm256_fmadd_pd(_mm256_loadu_pd(val), _mm256_loadu_pd(x), s);
  }
  FURROW_STEP(FURROW_AVX2) sum add_part(sum s, const double* val, const double* x, int begin, int end) {
    const __m256i at = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i in = _mm256_andnot_si256(_mm256_cmpgt_epi64(_mm256_set1_epi64x(begin), at),
                                           _mm256_cmpgt_epi64(_mm256_set1_epi64x(end), at));
    return _mm256_fmadd_pd(_mm256_loadu_pd(val), _mm256_maskload_pd(x, in), s);
  }
  FURROW_STEP(FURROW_AVX2) void put(double* out, sum s) { _mm256_storeu_pd(out, s); }
};

struct eight_floats {
  static constexpr index_t rows = 8, registers = 4;
  using sum = __m256;
  FURROW_STEP(FURROW_AVX2) sum zero() { return _mm256_setzero_ps(); }
  FURROW_STEP(FURROW_AVX2) sum add(sum s, sum t) { return _mm256_add_ps(s, t); }
  FURROW_STEP(FURROW_AVX2) sum start(const float* out) { return _mm256_loadu_ps(out); }
  FURROW_STEP(FURROW_AVX2) sum add(sum s, const std::int32_t* col, const float* val, const float* x) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(col));
    const __m256 mask = _mm256_castsi256_ps(_mm256_cmpgt_epi32(at, _mm256_set1_epi32(-1)));
    return _mm256_fmadd_ps(_mm256_loadu_ps(val), _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, at, mask, 4), s);
  }
  FURROW_STEP(FURROW_AVX2) sum add_run(sum s, const float* val, const float* x) {
    return _mm256_fmadd_ps(_mm256_loadu_ps(val), _mm256_loadu_ps(x), s);
  }
  FURROW_STEP(FURROW_AVX2) sum add_part(sum s, const float* val, const float* x, int begin, int end) {
    const __m256i at = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i in = _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(begin), at),
                                           _mm256_cmpgt_epi32(_mm256_set1_epi32(end), at));
    return _mm256_fmadd_ps(_mm256_loadu_ps(val), _mm256_maskload_ps(x, in), s);
  }
  FURROW_STEP(FURROW_AVX2) void put(float* out, sum s) { _mm256_storeu_ps(out, s); }
};

#undef FURROW_STEP

template <class V> struct vectors_of;
template <> struct vectors_of<double> {
  using avx512 = eight_doubles;
  using avx2 = four_doubles;
};
template <> struct vectors_of<float> {
  using avx512 = sixteen_floats;
  using avx2 = eight_floats;
};

/// All columns of Registers vectors of rows.
#define FURROW_SLICE(NAME, ISA)                                                                                        \
  template <class Step, int Registers, class V>                                                                        \
  ISA inline __attribute__((always_inline)) void NAME##_rows(const std::int32_t* col, const V* val, index_t width,     \
                                                             index_t height, const V* x, V* out) {                     \
    typename Step::sum s[Registers];                                                                                   \
    for (int r = 0; r < Registers; ++r) s[r] = Step::start(out + r * Step::rows);                                      \
    for (index_t k = 0; k < width; ++k, col += height, val += height)                                                  \
      for (int r = 0; r < Registers; ++r) {                                                                            \
        cpu::prefetch(val + r * Step::rows);                                                                           \
        if (r % 2 == 0) cpu::prefetch(col + r * Step::rows);                                                           \
        s[r] = Step::add(s[r], col + r * Step::rows, val + r * Step::rows, x);                                         \
      }                                                                                                                \
    for (int r = 0; r < Registers; ++r) Step::put(out + r * Step::rows, s[r]);                                         \
  }                                                                                                                    \
  template <class Step, class V>                                                                                       \
  ISA void NAME(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out) {            \
    constexpr index_t together = Step::rows * Step::registers;                                                         \
    index_t i = 0;                                                                                                     \
    for (; i + together <= height; i += together)                                                                      \
      NAME##_rows<Step, Step::registers>(col + i, val + i, width, height, x, out + i);                                 \
    if (Step::registers > 2 && i + 2 * Step::rows <= height) {                                                         \
      NAME##_rows<Step, 2>(col + i, val + i, width, height, x, out + i);                                               \
      i += 2 * Step::rows;                                                                                             \
    }                                                                                                                  \
    for (; i < height; i += Step::rows) NAME##_rows<Step, 1>(col + i, val + i, width, height, x, out + i);             \
  }
FURROW_SLICE(slice_avx512, FURROW_AVX512)
FURROW_SLICE(slice_avx2, FURROW_AVX2)
#undef FURROW_SLICE

} // namespace furrow::sell_slices
