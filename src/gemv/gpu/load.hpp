// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/gemv.hpp>

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

/// Loads of 16 bytes and what is in them. The host plays the same functions in tests.
namespace furrow::dense {

/// Sixteen bytes as they lie in memory.
struct alignas(16) bytes16 {
  std::uint32_t word[4];
};
/// a / b for 0 <= a < 2^20 and b > 0, in a few instructions where a division of integers takes forty: the quotient of
/// a + 1/2 is further from all integers than it is wrong.
FURROW_HD inline int small_quotient(int a, int b) {
#if defined(__CUDA_ARCH__)
  return int(__fdividef(float(a) + 0.5f, float(b)));
#else
  return a / b;
#endif
}

/// Elements of T in 16 bytes.
template <class T> inline constexpr int per_load = 16 / int(sizeof(T));

/// How far `p` is behind a multiple of 16 bytes, in elements.
template <class T> FURROW_HD int misalignment(const T* p) {
  return int(reinterpret_cast<std::uintptr_t>(p) % 16 / sizeof(T));
}

/// Says that `p` is to the memory of the device: of a pointer that may come from a list the compiler does not know, and
/// reads in a slower way. (Kernels that have more to do beside their reads were not faster for it.)
template <class P> FURROW_HD P* to_global(P* p) {
#if defined(__CUDA_ARCH__)
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

/// From an address that is a multiple of 16. For what is read once: past the first cache.
FURROW_HD inline bytes16 load_once(const void* p) {
  bytes16 b;
#if defined(__CUDA_ARCH__)
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(b.word[0]), "=r"(b.word[1]), "=r"(b.word[2]), "=r"(b.word[3])
      : "l"(p));
#else
  std::memcpy(&b, p, 16);
#endif
  return b;
}

/// One element as the number that it is multiplied by.
FURROW_HD inline double number(double a) { return a; }
FURROW_HD inline float number(float a) { return a; }
#if defined(__CUDA_ARCH__)
__device__ inline float number(half a) { return __half2float(__ushort_as_half(a.bits)); }
__device__ inline float number(bfloat16 a) { return __uint_as_float(std::uint32_t(a.bits) << 16); }
#else
inline float number(half a) { return float(a); }
inline float number(bfloat16 a) { return float(a); }
#endif

/// Element i of 16 bytes; i is known at compile time wherever it matters.
template <class T> FURROW_HD vector_value<T> element(const bytes16& b, int i) {
  if constexpr (sizeof(T) == 8) {
    const std::uint64_t bits = std::uint64_t(b.word[2 * i + 1]) << 32 | b.word[2 * i];
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(bits));
#else
    return std::bit_cast<double>(bits);
#endif
  } else if constexpr (sizeof(T) == 4) {
#if defined(__CUDA_ARCH__)
    return __uint_as_float(b.word[i]);
#else
    return std::bit_cast<float>(b.word[i]);
#endif
  } else {
    T a;
    a.bits = static_cast<std::uint16_t>(b.word[i / 2] >> (i % 2 * 16));
    return number(a);
  }
}

/// Neighbours that are read together.
template <int N, class V> struct alignas(N * sizeof(V) < 16 ? N * sizeof(V) : 16) neighbours { V of[N]; };

/// One, two, four or eight neighbours of x, from an address that is a multiple of their size or of 16.
template <int N, class V> FURROW_HD void load_x(const V* p, V* out) {
  const auto all = *reinterpret_cast<const neighbours<N, V>*>(p);
  for (int j = 0; j < N; ++j) out[j] = all.of[j];
}

/// Neighbours of x in whole loads of 16 bytes, where no other block reads them.
template <int N, class V> FURROW_HD void load_x_once(const V* p, V* out) {
  static_assert(N % per_load<V> == 0);
  for (int first = 0; first < N; first += per_load<V>) {
    const bytes16 raw = load_once(p + first);
    for (int j = 0; j < per_load<V>; ++j) out[first + j] = element<V>(raw, j);
  }
}

/// A number that is known at compile time, as an argument.
template <int N> struct fixed { static constexpr int value = N; };

} // namespace furrow::dense
