// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../call.hpp"

#include <cstdint>

/// Loads of 16 bytes and what is in them.
namespace furrow::dense {

/// Elements of T in 16 bytes.
template <class T> inline constexpr int per_load = 16 / int(sizeof(T));

/// How far `p` is behind a multiple of 16 bytes, in elements.
template <class T> FURROW_HD int misalignment(const T* p) {
  return int(reinterpret_cast<std::uintptr_t>(p) % 16 / sizeof(T));
}

/// Sixteen bytes as they lie in memory.
struct alignas(16) bytes16 {
  std::uint32_t word[4];
};

/// Says that `p` is to the memory of the device: of a pointer that may come from a list the compiler does not know, and
/// reads in a slower way. (Kernels that have more to do beside their reads were not faster for it.)
template <class P> __device__ P* to_global(P* p) {
  __builtin_assume(__isGlobal(p));
  return p;
}

/// From an address that is a multiple of 16. For what is read once: past the first cache.
inline __device__ bytes16 load_once(const void* p) {
  bytes16 b;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(b.word[0]), "=r"(b.word[1]), "=r"(b.word[2]), "=r"(b.word[3])
      : "l"(p));
  return b;
}

/// Element i of 16 bytes; i is known at compile time wherever it matters.
template <class T> __device__ vector_value<T> element(const bytes16& b, int i) {
  if constexpr (sizeof(T) == 8) {
    return __longlong_as_double(static_cast<long long>(std::uint64_t(b.word[2 * i + 1]) << 32 | b.word[2 * i]));
  } else if constexpr (sizeof(T) == 4) {
    return __uint_as_float(b.word[i]);
  } else {
    T a;
    a.bits = static_cast<std::uint16_t>(b.word[i / 2] >> (i % 2 * 16));
    return number(a);
  }
}

/// sum += the elements of 16 bytes, each times its own factor.
template <class T, class S> __device__ void add_products(S& sum, const bytes16& raw, const vector_value<T>* factor) {
#pragma unroll
  for (int j = 0; j < per_load<T>; ++j) sum += S(element<T>(raw, j)) * S(factor[j]);
}

/// sum[j] += element j of 16 bytes times one factor.
template <class T, class S, class V> __device__ void add_multiples(S* sum, const bytes16& raw, V factor) {
#pragma unroll
  for (int j = 0; j < per_load<T>; ++j) sum[j] += S(element<T>(raw, j)) * S(factor);
}

/// Neighbours that are read together.
template <int N, class V> struct alignas(N * sizeof(V) < 16 ? N * sizeof(V) : 16) neighbours { V of[N]; };

/// One, two, four or eight neighbours of x, from an address that is a multiple of their size or of 16.
template <int N, class V> __device__ void load_x(const V* p, V* out) {
  const auto all = *reinterpret_cast<const neighbours<N, V>*>(p);
  for (int j = 0; j < N; ++j) out[j] = all.of[j];
}

/// A number that is known at compile time, as an argument.
template <int N> struct fixed { static constexpr int value = N; };

} // namespace furrow::dense
