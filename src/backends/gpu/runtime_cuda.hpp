// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cuda_runtime.h>

/// The GPU runtime as kernels and their callers spell it. A HIP build includes a header of the same names instead.
static_assert(__cplusplus >= 202002L, "CMake 3.25 drops the standard for nvcc 13: -std=c++20 must be given by hand");

namespace furrow::gpu {

/// Lanes that run together.
inline constexpr int warp = 32;

#if defined(__CUDACC__)
/// The lanes of this thread's group of W.
template <int W> __device__ inline unsigned group_mask() {
  if constexpr (W == warp) return 0xffffffffu;
  else return ((1u << W) - 1u) << (threadIdx.x % warp / W * W);
}

/// The value of the lane of this rank in the same group of W. All lanes of the group must call.
template <int W, class T> __device__ T from_lane(T value, int rank) {
  return __shfl_sync(group_mask<W>(), value, rank, W);
}

/// The value of the lane `distance` further on in the same group of W. All lanes of the group must call.
template <int W, class T> __device__ T from_lane_above(T value, int distance) {
  return __shfl_down_sync(group_mask<W>(), value, distance, W);
}

/// The value of the lane `distance` before this one in the same group of W; the first ones keep their own. All lanes of
/// the group must call.
template <int W, class T> __device__ T from_lane_below(T value, int distance) {
  return __shfl_up_sync(group_mask<W>(), value, distance, W);
}

/// The value of the lane of the same group of W whose rank differs in the bit `distance`. All lanes of the group must
/// call.
template <int W, class T> __device__ T from_lane_across(T value, int distance) {
  return __shfl_xor_sync(group_mask<W>(), value, distance, W);
}
#endif

} // namespace furrow::gpu
