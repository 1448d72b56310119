// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"
#include "words.hpp"

#include "backends/gpu/reduce.hpp"

/// Sums over the blocks of one kernel, by words.
namespace furrow::resident {

/// The sum of so many words, one of each block, in every lane of a warp and with the same bits in every block. All
/// reads of a turn are under way at once.
__device__ inline double sum_of_all(const sum_word* words, int count, std::uint64_t stamp) {
  const int lane = static_cast<int>(threadIdx.x) % gpu::warp;
  double mine[sums_a_lane], sum = 0;
  bool all;
  do {
    word<double> w[sums_a_lane];
#pragma unroll
    for (int k = 0; k < sums_a_lane; ++k) {
      const int at = lane + k * gpu::warp;
      w[k] = look(&words[at < count ? at : 0].one);
    }
    all = true;
#pragma unroll
    for (int k = 0; k < sums_a_lane; ++k) {
      all = all & (w[k].stamp == stamp);
      mine[k] = lane + k * gpu::warp < count ? w[k].value : 0;
    }
  } while (!__all_sync(~0u, all));
#pragma unroll
  for (int k = 0; k < sums_a_lane; ++k) sum += mine[k];
  return gpu::sum_lanes_for_all<gpu::warp>(sum);
}

/// The sum of what the warps have left in `room`, in all lanes of a warp.
__device__ inline double sum_of_warps(const double* room) {
  constexpr int warps = threads / gpu::warp;
  return gpu::sum_lanes_for_all<warps>(room[threadIdx.x % warps]);
}

/// Bytes of shared memory that the kernels have for themselves, at most.
inline constexpr int own_bytes = 1024;

} // namespace furrow::resident
