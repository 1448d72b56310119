// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Loads from shared memory by its own addresses, of 32 bits.
namespace furrow::gpu {

#if defined(__CUDA_ARCH__)

inline __device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

/// to[from...] <- 16 bytes. Volatile: loads stay in front of the first use of one, all under way together.
template <int P> __device__ __forceinline__ void load_shared(unsigned address, double (&to)[P], int from) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(to[from]), "=d"(to[from + 1]) : "r"(address));
}
template <int P> __device__ __forceinline__ void load_shared(unsigned address, float (&to)[P], int from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[from]), "=f"(to[from + 1]), "=f"(to[from + 2]), "=f"(to[from + 3])
               : "r"(address));
}

#else

inline __device__ unsigned shared_address(const void*) { return 0; }
template <class V, int P> __device__ void load_shared(unsigned, V (&)[P], int) {}

#endif

} // namespace furrow::gpu
