// SPDX-License-Identifier: BSD-3-Clause
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "distinct.hpp"

#include "backends/cpu/isa.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace furrow {
namespace {

template <class B> std::uint64_t absent_plain(const bits_table<B>& table, const B* values, index_t count) {
  B others = 0;
  for (index_t k = 0; k < count; ++k) others |= table.key[bits_table<B>::place(values[k])] ^ values[k];
  if (others == 0) return 0;
  std::uint64_t absent = 0;
  for (index_t k = 0; k < count; ++k)
    absent |= std::uint64_t(table.key[bits_table<B>::place(values[k])] != values[k]) << k;
  return absent;
}

#if defined(__x86_64__)
#define FURROW_STEP FURROW_AVX512 static inline __attribute__((always_inline))

FURROW_STEP __m512i eight(__mmask8 in, const std::uint64_t* values) { return _mm512_maskz_loadu_epi64(in, values); }
FURROW_STEP __m512i eight(__mmask8 in, const std::uint32_t* values) {
  return _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(in, values));
}
FURROW_STEP __m512i gather(__m512i at, const std::uint64_t* key) { return _mm512_i64gather_epi64(at, key, 8); }
FURROW_STEP __m512i gather(__m512i at, const std::uint32_t* key) {
  return _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(at, key, 4));
}

template <class B>
FURROW_AVX512 std::uint64_t absent_avx512(const bits_table<B>& table, const B* values, index_t count) {
  std::uint64_t absent = 0;
  const auto held = static_cast<std::size_t>(table.count);
  if (held > 0 && held <= 4) { // as on most grids: a third of the time
    const auto each = [&](std::size_t n) { return static_cast<long long>(table.list[n < held ? n : 0]); };
    const __m512i a = _mm512_set1_epi64(each(0)), b = _mm512_set1_epi64(each(1));
    const __m512i c = _mm512_set1_epi64(each(2)), d = _mm512_set1_epi64(each(3));
    for (index_t k = 0; k < count; k += 8) {
      const auto in = static_cast<__mmask8>(count - k < 8 ? (1U << (count - k)) - 1 : 0xffU);
      const __m512i v = eight(in, values + k);
      const __mmask8 not_ab = _mm512_mask_cmpneq_epi64_mask(_mm512_mask_cmpneq_epi64_mask(in, v, a), v, b);
      const __mmask8 none = _mm512_mask_cmpneq_epi64_mask(_mm512_mask_cmpneq_epi64_mask(not_ab, v, c), v, d);
      absent |= std::uint64_t(none) << k;
    }
    return absent;
  }
  const __m512i odd = _mm512_set1_epi64(static_cast<long long>(0x9e3779b97f4a7c15));
  for (index_t k = 0; k < count; k += 8) {
    const auto in = static_cast<__mmask8>(count - k < 8 ? (1U << (count - k)) - 1 : 0xffU);
    const __m512i v = eight(in, values + k);
    const __m512i at = _mm512_srli_epi64(_mm512_mullo_epi64(v, odd), 64 - bits_table<B>::log_size);
    absent |= std::uint64_t(_mm512_mask_cmpneq_epi64_mask(in, gather(at, table.key.data()), v)) << k;
  }
  return absent;
}
#undef FURROW_STEP
#endif

} // namespace

template <class B> std::uint64_t absent(const bits_table<B>& table, const B* values, index_t count) {
#if defined(__x86_64__)
  if (cpu::machine_isa() == cpu::isa::avx512) return absent_avx512(table, values, count);
#endif
  return absent_plain(table, values, count);
}

template std::uint64_t absent(const bits_table<std::uint64_t>&, const std::uint64_t*, index_t);
template std::uint64_t absent(const bits_table<std::uint32_t>&, const std::uint32_t*, index_t);

} // namespace furrow
