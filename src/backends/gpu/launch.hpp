// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

/// Kernels whose blocks come onto the device while the last ones of the kernel before them still run (programmatic
/// dependent launch, compute capability 9.0 on).
namespace furrow::gpu {

#if defined(__CUDACC__)
/// In a kernel that `launch` starts: the next one may come. By every thread, as early as can be: nobody runs on before
/// this kernel has ended, see below.
__device__ inline void let_next_come() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// In a kernel that `launch` starts, by every thread: waits until all that the kernels before have written can be
/// read. A matrix does not change, and may be read before; x, y and scratch may not be touched.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Both, for a kernel that has nothing to do in between.
__device__ inline void take_turn() {
  let_next_come();
  wait_for_previous();
}

/// The first of kernels that run side by side, by every thread at its beginning: they come once all that was enqueued
/// before it has ended.
__device__ inline void lead_others() {
  wait_for_previous();
  let_next_come();
}

/// In a kernel that runs beside the one before it, which is one of these, too, or their first; by every thread, from
/// its beginning to its end, wherever that is. It may use what was there before the first one, and nothing that those
/// between have written, but to add to the same numbers by atomic operations; nor may it write to memory that one of
/// them had and that was released since. It ends after them, so that who waits for the last one waits for all. Small
/// kernels that look at a sample take a few microseconds each, of which the device is idle for the most part.
class beside_others {
public:
  __device__ beside_others() { let_next_come(); }
  __device__ ~beside_others() { wait_for_previous(); }
  beside_others(const beside_others&) = delete;
  beside_others& operator=(const beside_others&) = delete;
};

/// Enqueues kernel(arguments...), which must call `wait_for_previous`, or be one of those that call it for it.
template <class... P, class... A>
void launch(void (*kernel)(P...), unsigned blocks, int threads, int shared_bytes, const queue& q,
            const A&... arguments) {
  const runtime::launch_plan how{.grid = dim3(blocks),
                                 .block = dim3(static_cast<unsigned>(threads)),
                                 .shared_bytes = static_cast<std::size_t>(shared_bytes),
                                 .on = q.stream,
                                 .early = q.early_launch};
  check(runtime::start(kernel, how, arguments...));
}
#endif

} // namespace furrow::gpu
