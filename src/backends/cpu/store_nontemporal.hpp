// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace furrow::cpu {

/// How many elements from `to` on lie before one that `store_nontemporal_bytes` can write to.
template <class V> index_t elements_before_nontemporal(const V* to) {
  static_assert(16 % sizeof(V) == 0);
  return index_t((16 - reinterpret_cast<std::uintptr_t>(to) % 16) % 16 / sizeof(V));
}

/// Copies Bytes bytes, a multiple of 16, to a place that is as divisible, past the caches, which would read every line
/// first. Other threads may read them once this one has called `finish_nontemporal` and has synchronised with them.
template <int Bytes> inline __attribute__((always_inline)) void store_nontemporal_bytes(void* to, const void* from) {
#if defined(__SSE2__)
  for (int k = 0; k < Bytes; k += 16) {
    __m128i some;
    std::memcpy(&some, static_cast<const char*>(from) + k, sizeof some);
    _mm_stream_si128(reinterpret_cast<__m128i*>(static_cast<char*>(to) + k), some);
  }
#else
  std::memcpy(to, from, Bytes);
#endif
}

inline void finish_nontemporal() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// to[i] <- from[i] for an array so long that it is in no cache before and after.
template <class V> void store_nontemporal(V* to, const V* from, index_t n) {
  constexpr index_t each = 16 / index_t(sizeof(V));
  index_t i = std::min(n, elements_before_nontemporal(to));
  std::copy_n(from, i, to);
  for (; i + each <= n; i += each) store_nontemporal_bytes<16>(to + i, from + i);
  std::copy(from + i, from + n, to + i);
  finish_nontemporal();
}

} // namespace furrow::cpu
