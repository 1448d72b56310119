// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kernels.hpp"

#include "backends/gpu/reduce.hpp"

namespace furrow::play {

/// `gpu::sum_block` for warps of 64 lanes; those of 32 have its own text.
template <int Threads, class T> real<T, 64> sum_block(real<T, 64> value, real<T, 64>* room) {
  value = gpu::sum_lanes<64>(value);
  if (running->rank == 0) room[running->thread.x / 64] = value;
  wait_for_block();
  value = running->thread.x < Threads / 64 ? room[running->thread.x] : real<T, 64>(0);
  if (running->thread.x < 64) value = gpu::sum_lanes<64>(value);
  return value;
}

} // namespace furrow::play
