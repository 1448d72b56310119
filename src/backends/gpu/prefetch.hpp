// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::gpu {

#if defined(__CUDACC__)
/// Asks for the line that holds `at`, into the second cache; nothing waits for it.
__device__ inline void prefetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
#endif

} // namespace furrow::gpu
