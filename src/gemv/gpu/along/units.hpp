// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"

#include <cuda_pipeline.h>
#endif

namespace furrow::dense::along {

inline constexpr index_t unit_loads = 9; ///< most loads of a unit

struct units {
  static constexpr std::string_view name = "units", about = "short lines, the fewest that make whole loads to a thread";
  static constexpr bool one_vector = false;
  static constexpr int order = 40;

  static constexpr std::optional<cut> fits(const gemv_shape& p, index_t /*multiprocessors*/) {
    const index_t lines = p.per_load() / common_divisor(p.length, p.per_load()),
                  loads = lines * p.length / p.per_load();
    // Units of a multiple of 64 bytes begin at few banks: one vector pays for that, several would pay each.
    if ((p.vectors > 1 && loads % 4 == 0) || p.length != p.leading || !p.a_aligned || loads > unit_loads) return {};
    cut c;
    c.terms = p.length;
    tile(c, p.lines, gpu_threads * lines);
    return c;
  }
};

#if defined(__CUDACC__)

/// y <- alpha A x + beta y for short lines of any length without gaps. A unit is the fewest lines that make whole loads
/// of 16 bytes. A block copies the units of its threads into shared memory as one stream of bytes, then a thread sums
/// up its unit, with one vector after the other where there are several. Reads every byte of A once.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads) units_kernel(call<T> c, cut p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>;
  extern __shared__ bytes16 room[]; // the units, x for a unit, the sums
  const int lines = int(p.outputs) / gpu_threads, length = int(c.length), elements = lines * length;
  const int loads = elements / each;
  V* const x = reinterpret_cast<V*>(room + gpu_threads * loads);
  S* const sums = reinterpret_cast<S*>(x + elements);
  const index_t line = blockIdx.x * p.outputs, all = c.lines * c.length, begin = line * c.length;
  const T* const a = c.a_of(blockIdx.z) + begin;
  const int count = int(all - begin < gpu_threads * elements ? all - begin : gpu_threads * elements);
  for (int k = int(threadIdx.x); k < count / each; k += gpu_threads)
    __pipeline_memcpy_async(room + k, a + k * each, 16);
  __pipeline_commit();
  if (const int k = count / each * each + int(threadIdx.x); k < count) reinterpret_cast<T*>(room)[k] = a[k];
  for (int r = 0; r < c.count; ++r) {
    const V* const from = c.x_of(blockIdx.z) + r * c.x_next;
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
      put_output(c, blockIdx.z, r, line + i, sums[i]);
    __syncthreads(); // before the room is used again
  }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, cut> kernel_of(units, const cut& p) {
  const auto lines = static_cast<std::size_t>(p.outputs / gpu_threads),
             elements = lines * static_cast<std::size_t>(p.terms);
  const auto room = gpu_threads * (elements * sizeof(T) + lines * sizeof(S)) + elements * sizeof(vector_value<T>);
  return {units_kernel<T, S>, gpu_threads, room}; // at most 48 KiB
}

#endif

} // namespace furrow::dense::along
