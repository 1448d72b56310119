// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// Enqueues kernel(arguments...), whose blocks are all on the device at the same time and may wait for each other: a
/// launch of more than fit fails.
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, unsigned threads, std::size_t shared_bytes, const queue& q,
                     const A&... arguments) {
  const runtime::launch_plan how{
      .grid = dim3(blocks), .block = dim3(threads), .shared_bytes = shared_bytes, .on = q.stream, .together = true};
  check(runtime::start(kernel, how, arguments...));
}

} // namespace furrow::gpu
