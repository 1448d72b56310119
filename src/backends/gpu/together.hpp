// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// Enqueues kernel(arguments...), whose blocks are all on the device at the same time and may wait for each other: a
/// launch of more than fit fails.
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, unsigned threads, std::size_t shared_bytes, const queue& q,
                     const A&... arguments) {
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(blocks);
  how.blockDim = dim3(threads);
  how.dynamicSmemBytes = shared_bytes;
  how.stream = q.stream;
  how.attrs = &together;
  how.numAttrs = 1;
  check(cudaLaunchKernelEx(&how, kernel, P(arguments)...));
}

} // namespace furrow::gpu
