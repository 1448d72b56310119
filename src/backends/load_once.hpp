// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace furrow {

/// *from, of 4 or 8 bytes, that this kernel reads once: on the GPU it passes by the first cache, which is left to x.
/// The memory must not change while the kernel runs.
template <class T> FURROW_HD T load_once(const T* from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#if defined(__CUDA_ARCH__)
  T value;
  if constexpr (sizeof(T) == 4) {
    std::uint32_t bits;
    asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(bits) : "l"(from));
    memcpy(&value, &bits, sizeof value);
  } else {
    std::uint64_t bits;
    asm("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(bits) : "l"(from));
    memcpy(&value, &bits, sizeof value);
  }
  return value;
#else
  return *from;
#endif
}

/// Reads *from for whoever on this multiprocessor reads it next: into the first cache. Nothing on the CPU.
template <class V> FURROW_HD void bring_near([[maybe_unused]] const V* from) {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8);
#if defined(__CUDA_ARCH__)
  [[maybe_unused]] std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t> bits;
  if constexpr (sizeof(V) == 8) asm volatile("ld.global.ca.b64 %0, [%1];" : "=l"(bits) : "l"(from));
  else asm volatile("ld.global.ca.b32 %0, [%1];" : "=r"(bits) : "l"(from));
#endif
}

} // namespace furrow
