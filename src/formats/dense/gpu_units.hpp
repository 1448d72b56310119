// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

#include <cuda_pipeline.h>

namespace furrow::dense {

/// y <- alpha A x + beta y, one vector, for short lines of any length without gaps. A unit is the fewest lines that
/// make whole loads of 16 bytes: p.rows lines in p.lanes loads. A block copies the units of its threads into shared
/// memory as one stream of bytes, then a thread sums up its unit. Reads every byte of A once.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads) units_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>;
  extern __shared__ bytes16 room[]; // the units, x for a unit, the sums
  const int loads = p.lanes, lines = p.rows, length = int(c.length), elements = loads * each;
  V* const x = reinterpret_cast<V*>(room + gpu_threads * loads);
  S* const sums = reinterpret_cast<S*>(x + elements);
  index_t item = blockIdx.x;
  do { // the first loads do not wait for the number of items
    const gpu_item at = item_of(p, item);
    const index_t line = at.tile * p.outputs, all = c.lines * c.length, begin = line * c.length;
    const T* const a = c.a_of(at.problem) + begin;
    const int count = int(all - begin < gpu_threads * elements ? all - begin : gpu_threads * elements);
    for (int k = int(threadIdx.x); k < count / each; k += gpu_threads)
      __pipeline_memcpy_async(room + k, a + k * each, 16);
    __pipeline_commit();
    if (const int k = count / each * each + int(threadIdx.x); k < count) reinterpret_cast<T*>(room)[k] = a[k];
    const V* const from = c.x_of(at.problem);
    for (int k = int(threadIdx.x); k < elements; k += gpu_threads) x[k] = from[k % length * c.x_stride];
    __pipeline_wait_prior(0);
    __syncthreads();
    const bytes16* const unit = room + int(threadIdx.x) * loads;
    S* out = sums + int(threadIdx.x) * lines;
    S sum{};
    int column = 0;
    for (int l = 0; l < loads; ++l) {
      const bytes16 raw = unit[l];
      V factor[each];
      load_x<each>(x + l * each, factor);
#pragma unroll
      for (int j = 0; j < each; ++j) {
        sum += S(element<T>(raw, j)) * S(factor[j]);
        if (++column < length) continue;
        *out++ = sum;
        sum = 0;
        column = 0;
      }
    }
    __syncthreads();
    for (index_t i = threadIdx.x; i < p.outputs && line + i < c.lines; i += gpu_threads)
      put_output(c, at.problem, 0, line + i, sums[i]);
    __syncthreads(); // before the room is used again
  } while ((item += gridDim.x) < p.items(c.batch));
}

/// Shared memory of that kernel: at most 48 KiB.
template <class T, class S> std::size_t units_room(const gpu_plan& p) {
  const auto loads = static_cast<std::size_t>(p.lanes), lines = static_cast<std::size_t>(p.rows);
  return gpu_threads * loads * 16 + loads * per_load<T> * sizeof(vector_value<T>) + gpu_threads * lines * sizeof(S);
}

} // namespace furrow::dense
