// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// Enqueues kernel(arguments...), whose blocks read each other's shared memory in clusters of `cluster`, 1 for none.
template <class... P, class... A>
void launch_clusters(void (*kernel)(P...), dim3 grid, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                     const queue& q, const A&... arguments) {
  const runtime::launch_plan how{
      .grid = grid, .block = dim3(threads), .shared_bytes = shared_bytes, .on = q.stream, .cluster = cluster};
  check(runtime::start(kernel, how, arguments...));
}

} // namespace furrow::gpu
