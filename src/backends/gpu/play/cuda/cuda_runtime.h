// SPDX-License-Identifier: BSD-3-Clause
// What <cuda_runtime.h> is to kernels that a host compiler compiles, for the machine that plays them. What only
// launches need is declared, so that the headers of kernels can be read, and not there.
#pragma once
#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __shared__ // a kernel that is played shares by FURROW_SHARED (backends/shared_array.hpp)

#include "backends/gpu/play/machine.hpp"

namespace furrow::play {
template <size3 player::*Which, unsigned size3::*Axis> struct coordinate {
  operator unsigned() const { return running->*Which.*Axis; }
};
template <size3 player::*Which> struct coordinates {
  coordinate<Which, &size3::x> x;
  coordinate<Which, &size3::y> y;
  coordinate<Which, &size3::z> z;
};
} // namespace furrow::play

inline constexpr furrow::play::coordinates<&furrow::play::player::thread> threadIdx;
inline constexpr furrow::play::coordinates<&furrow::play::player::block> blockIdx;
inline constexpr furrow::play::coordinates<&furrow::play::player::block_size> blockDim;
inline constexpr furrow::play::coordinates<&furrow::play::player::grid> gridDim;

inline void __syncthreads() { ::furrow::play::wait_for_block(); }
inline void __syncwarp(unsigned long long mask = ~0ull) { ::furrow::play::wait_for_lanes(mask); }

using cudaError_t = int;
using cudaStream_t = struct CUstream_st*;
using cudaMemPool_t = struct CUmemPoolHandle_st*;
struct dim3 {
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned x, y, z;
};
