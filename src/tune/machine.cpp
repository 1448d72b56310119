// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"

#include <furrow/formats.hpp>

namespace furrow {

machine typical_machine([[maybe_unused]] device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::typical_machine();
#endif
  const double threads_at_work = threads();
  return {12e9 * threads_at_work, 40e9 * threads_at_work, second_level_cache() * threads_at_work, 2e-6, threads()};
}

} // namespace furrow
