// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "call.hpp"

#include "backends/shared_array.hpp"
#include "core/kernel_numbers.hpp"

/// The two kernels that tutorials on dense products begin with, bounds right, otherwise as they are. docs/gemv.md says
/// what is wrong with them.
namespace furrow::dense {

inline constexpr int tutorial_threads = 256;

/// A thread a row. Neighbouring threads read elements that are a row apart.
template <class T> __global__ void naive_kernel(call<T> c) {
  const index_t row = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= c.lines) return;
  typename call<T>::value sum{};
  for (index_t k = 0; k < c.length; ++k) sum += number(c.a[row * c.leading + k]) * c.x[k * c.x_stride];
  put(c.alpha, sum, c.beta, c.y[row * c.y_stride]);
}

/// The same, with x brought into shared memory a tile at a time. It saves reads of x, which are few and cached anyway.
/// Blocks have `Threads` threads.
template <class T, int Threads = tutorial_threads> __global__ void tiled_kernel(call<T> c) {
  FURROW_SHARED(typename call<T>::value, tile, Threads);
  const index_t row = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  typename call<T>::value sum{};
  for (index_t first = 0; first < c.length; first += Threads) {
    const index_t mine = first + threadIdx.x;
    if (mine < c.length) tile[threadIdx.x] = c.x[mine * c.x_stride];
    __syncthreads();
    const index_t count = c.length - first < Threads ? c.length - first : Threads;
    if (row < c.lines)
      for (index_t k = 0; k < count; ++k) sum += number(c.a[row * c.leading + first + k]) * tile[k];
    __syncthreads();
  }
  if (row < c.lines) put(c.alpha, sum, c.beta, c.y[row * c.y_stride]);
}

/// The one with blocks of that many threads.
template <class T> auto tiled_in_blocks(int threads) -> void (*)(call<T>) {
  return with_block(threads,
                    []<int B>(std::integral_constant<int, B>) -> void (*)(call<T>) { return tiled_kernel<T, B>; });
}

} // namespace furrow::dense
