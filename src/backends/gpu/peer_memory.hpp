// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <cstdint>

/// Memory that kernels on several devices, and the host, read and write at the same time: numbers of 4 and 8 bytes are
/// written and read whole, and what is read is what lies in the memory now.
namespace furrow::gpu {

#if defined(__CUDACC__)
__device__ inline void put_for_all(std::uint64_t* at, std::uint64_t word) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ inline std::uint64_t get_of_all(const std::uint64_t* at) {
  std::uint64_t word;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
__device__ inline void put_for_all(std::uint32_t* at, std::uint32_t word) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
__device__ inline std::uint32_t get_of_all(const std::uint32_t* at) {
  std::uint32_t word;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
/// Two neighbouring words, at a multiple of their 16 bytes; each of them whole.
__device__ inline void put_two_for_all(std::uint64_t* at, std::uint64_t first, std::uint64_t second) {
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(first), "l"(second) : "memory");
}
/// Where `wanted`: what lies there. (A branch around it would cost more than the load.)
__device__ inline void get_two_of_all(const std::uint64_t* at, bool wanted, std::uint64_t& first,
                                      std::uint64_t& second) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %3, 0; @p ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];}"
               : "+l"(first), "+l"(second)
               : "l"(at), "r"(unsigned(wanted))
               : "memory");
}
__device__ inline void get_of_all(const std::uint64_t* at, bool wanted, std::uint64_t& word) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.sys.global.u64 %0, [%1];}"
               : "+l"(word)
               : "l"(at), "r"(unsigned(wanted))
               : "memory");
}
/// A clock of the device.
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}
#endif

} // namespace furrow::gpu
