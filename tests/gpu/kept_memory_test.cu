// SPDX-License-Identifier: BSD-3-Clause
// What arrays on a GPU leave to the next ones.
#include "on_gpu.hpp"

#include "backends/gpu/pools.hpp"
#include "backends/gpu/queue.hpp"

#include <furrow/array.hpp>

namespace furrow {
namespace {

using gpu_kept_memory = on_gpu;

TEST_F(gpu_kept_memory, stays_as_far_as_was_said) {
  constexpr index_t elements = index_t(1) << 26;
  constexpr double bytes = 8.0 * elements;
  const gpu::memory_pools& pools = gpu::pools_of(0);
  const auto take_and_leave = [] {
    { const gpu_array<double> taken(elements); }
    gpu::wait(gpu::current_queue());
  };
  keep_gpu_memory(2 * index_t(bytes));
  take_and_leave();
  EXPECT_GE(double(pools.idle()), bytes);
  keep_gpu_memory(0);
  EXPECT_LT(double(pools.idle()), bytes);
  take_and_leave();
  EXPECT_LT(double(pools.idle()), bytes);
  keep_gpu_memory(-1); // an eighth again
  take_and_leave();
  EXPECT_GE(double(pools.idle()), bytes);
}

} // namespace
} // namespace furrow
