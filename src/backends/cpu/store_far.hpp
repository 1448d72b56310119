// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace furrow::cpu {

/// to[i] <- from[i] for an array so long that it is in no cache before and after: written past the caches, which would
/// read every line first. What has been written can be read by other threads once this thread has synchronised with
/// them.
template <class V> void store_far(V* to, const V* from, index_t n) {
#if defined(__SSE2__)
  static_assert(16 % sizeof(V) == 0);
  constexpr index_t each = 16 / index_t(sizeof(V));
  index_t i = 0;
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % 16 != 0; ++i) to[i] = from[i];
  for (; i + each <= n; i += each) {
    __m128i some;
    std::memcpy(&some, from + i, sizeof some);
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), some);
  }
  for (; i < n; ++i) to[i] = from[i];
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(V));
#endif
}

} // namespace furrow::cpu
