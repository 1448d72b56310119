// SPDX-License-Identifier: BSD-3-Clause
#include "clenshaw.hpp"

#include "backends/gpu/queue.hpp"

#include <furrow/chebyshev/series.hpp>

namespace furrow::chebyshev {
namespace {

inline constexpr int threads = 128, points = 4, tile = 512;

/// A thread evaluates a few points; coefficients pass through shared memory from the last one down, and each that is
/// read there serves all points of the thread. Two operations a byte of shared memory at least: arithmetic is the
/// bound.
template <class V>
__global__ void __launch_bounds__(threads) evaluate_kernel(cview<V> a, double low, double high, cview<V> x, view<V> y) {
  __shared__ V room[tile];
  constexpr index_t share = index_t(threads) * points;
  for (index_t first = blockIdx.x * share; first < x.size; first += gridDim.x * share) {
    place<V> at[points];
    clenshaw<V> sum[points];
#pragma unroll
    for (int j = 0; j < points; ++j) {
      const index_t i = first + j * threads + threadIdx.x;
      at[j] = place<V>::of(low, high, i < x.size ? double(x[i]) : low);
    }
    for (index_t end = a.size; end > 1;) { // a_(end - 1) is the next one; a_0 is added at the end
      const int count = static_cast<int>(end - 1 < tile ? end - 1 : tile);
      __syncthreads();
      for (int k = threadIdx.x; k < count; k += threads) room[k] = a[end - count + k];
      __syncthreads();
#pragma unroll 4
      for (int k = count - 1; k >= 0; --k) {
        const V coefficient = room[k];
#pragma unroll
        for (int j = 0; j < points; ++j) sum[j].step(at[j], coefficient);
      }
      end -= count;
    }
#pragma unroll
    for (int j = 0; j < points; ++j) {
      const index_t i = first + j * threads + threadIdx.x;
      if (i < x.size) y[i] = a.empty() ? V(0) : sum[j].value(at[j], a[0]);
    }
  }
}

} // namespace

template <class V> void evaluate_on_gpu(cview<V> a, interval on, cview<V> x, view<V> y) {
  const gpu::queue& q = gpu::current_queue();
  const unsigned blocks = gpu::blocks_for((x.size + points - 1) / points, threads, q);
  evaluate_kernel<<<blocks, threads, 0, q.stream>>>(a, on.low, on.high, x, y);
  gpu::check(cudaGetLastError());
}

template void evaluate_on_gpu(cview<double>, interval, cview<double>, view<double>);
template void evaluate_on_gpu(cview<float>, interval, cview<float>, view<float>);

} // namespace furrow::chebyshev
