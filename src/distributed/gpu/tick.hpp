// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/peer_memory.hpp"

#include <cstdint>

namespace furrow::gpu {

/// A count that one thread at a time raises, and that the host reads where it lies in its own memory. (To copy it would
/// not do: while the driver loads a kernel, it waits for those that run, and copies wait for it.)
struct tick {
  std::uint64_t* count = nullptr; ///< on the GPU; none: nothing is counted
  std::uint64_t* told = nullptr;  ///< the same number in pinned memory

#if defined(__CUDACC__)
  __device__ void raise() const {
    if (count) put_for_all(told, *count += 1);
  }
#endif
};

} // namespace furrow::gpu
