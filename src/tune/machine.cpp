// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"

#include "backends/cpu/caches.hpp"
#include "backends/cpu/isa.hpp"

#include <furrow/formats.hpp>

namespace furrow {

machine typical_machine([[maybe_unused]] device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::typical_machine();
#endif
  // Always that of two threads, for which the costs were fitted: the number of threads must not change what is chosen,
  // and with it the bits.
  constexpr int threads = 2;
  return {.read = 12e9 * threads,
          .cache_read = 40e9 * threads,
          .cache = second_level_cache() * threads,
          .latency = 2e-6,
          .processors = threads,
          .last_cache = last_level_cache(),
          .by_intel = cpu::by_intel()};
}

} // namespace furrow
