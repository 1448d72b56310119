// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "runtime_cuda.hpp"
#include "shared_loads.hpp"

#include <cstdint>

/// Copies from global into shared memory by the bulk copy engine (compute capability 9.0 on): one thread asks, no
/// registers are used, and a barrier in shared memory tells when the bytes have arrived. Older devices have none;
/// FURROW_BULK_COPY says in device code which kind is being compiled for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define FURROW_BULK_COPY 0
#else
#define FURROW_BULK_COPY 1
#endif

namespace furrow::gpu {

/// A barrier that completes a phase when all who announce bytes have done so and these bytes have arrived.
struct arrival {
  std::uint64_t state;
};

#if defined(__CUDA_ARCH__) && FURROW_BULK_COPY

/// By one thread, before any use. `expect` is called so many times a phase.
inline __device__ void open(arrival& a, int announcements = 1) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&a)), "r"(announcements) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// By one thread: this phase does not end before `bytes` more have arrived.
inline __device__ void expect(arrival& a, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&a)), "r"(bytes)
               : "memory");
}

/// By one thread. Both addresses and `bytes` are multiples of 16.
inline __device__ void bulk_copy(void* to, const void* from, unsigned bytes, arrival& a) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(&a))
               : "memory");
}

/// By every thread that reads the bytes: waits for the end of the phase of that parity.
inline __device__ void wait(arrival& a, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(shared_address(&a)),
               "r"(parity)
               : "memory");
}

#else

inline __device__ void open(arrival&, int = 1) {}
inline __device__ void expect(arrival&, unsigned) {}
inline __device__ void bulk_copy(void*, const void*, unsigned, arrival&) {}
inline __device__ void wait(arrival&, unsigned) {}

#endif

} // namespace furrow::gpu
