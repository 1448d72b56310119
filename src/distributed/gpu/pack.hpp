// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tick.hpp"

#include "backends/gpu/launch.hpp"

#include <furrow/array.hpp>

#include <cstdint>

namespace furrow::gpu {

inline constexpr int pack_threads = 256;

/// to[k] <- x[rows[k]]; one more in `counted`.
template <class V>
static __global__ void __launch_bounds__(pack_threads)
    pack_kernel(const std::int32_t* rows, index_t count, cview<V> x, V* to, tick counted) {
  take_turn();
  const index_t stride = index_t(gridDim.x) * pack_threads;
  for (index_t k = index_t(blockIdx.x) * pack_threads + threadIdx.x; k < count; k += stride) to[k] = x[rows[k]];
  if (blockIdx.x == 0 && threadIdx.x == 0) counted.raise();
}

/// What goes to other ranks, one after the other.
template <class V> void pack(const gpu_array<std::int32_t>& rows, cview<V> x, V* to, tick counted, const queue& q) {
  launch(pack_kernel<V>, blocks_for(rows.size(), pack_threads, q), pack_threads, 0, q, rows.data(), rows.size(), x, to,
         counted);
}

} // namespace furrow::gpu
