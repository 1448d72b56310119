// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::cpu {

/// Asks for what lies 3 KiB behind `at` of an array that is read from front to back: as far as memory takes to answer.
/// The processor's own prefetchers stay closer to where the program reads, and stop at the end of a page. Beyond the
/// end of the array it does nothing.
inline __attribute__((always_inline)) void prefetch(const void* at) {
  __builtin_prefetch(static_cast<const char*>(at) + 3072);
}

/// The same for every cache line of so many bytes from `at` on.
inline __attribute__((always_inline)) void prefetch(const void* at, index_t bytes) {
  for (index_t k = 0; k < bytes; k += 64) prefetch(static_cast<const char*>(at) + k);
}

} // namespace furrow::cpu
