// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// Enqueues kernel(arguments...), whose blocks read each other's shared memory in clusters of `cluster`, 1 for none.
template <class... P, class... A>
void launch_clusters(void (*kernel)(P...), dim3 grid, unsigned threads, std::size_t shared_bytes, unsigned cluster,
                     const queue& q, const A&... arguments) {
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeClusterDimension;
  together.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t how{};
  how.gridDim = grid;
  how.blockDim = dim3(threads);
  how.dynamicSmemBytes = shared_bytes;
  how.stream = q.stream;
  how.attrs = &together;
  how.numAttrs = cluster > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&how, kernel, P(arguments)...));
}

} // namespace furrow::gpu
