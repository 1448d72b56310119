// SPDX-License-Identifier: BSD-3-Clause
#include "clenshaw.hpp"

#include "backends/gpu/queue.hpp"

#include <furrow/chebyshev/series.hpp>

namespace furrow::chebyshev {
namespace {

constexpr int threads = 128, tile = 512;
template <class V> constexpr int points = 32 / int(sizeof(V)); ///< of a thread
/// Rounds of blocks: many short ones end together.
constexpr int rounds = 128;

/// The next `count` coefficients, from the last one down, for the points of a thread.
template <bool Ends, class V>
__device__ void add_coefficients(const V* room, int count, const place<V>* at, clenshaw<V>* sum) {
#pragma unroll 4
  for (int k = count - 1; k >= 0; --k) {
    const V coefficient = room[k];
#pragma unroll
    for (int j = 0; j < points<V>; ++j) sum[j].template step<Ends>(at[j], coefficient);
  }
}

/// A thread evaluates a few points; coefficients pass through shared memory from the last one down, and each that is
/// read there serves all points of the thread. Two operations a byte of shared memory at least: arithmetic is the
/// bound.
template <class V>
__global__ void __launch_bounds__(threads) evaluate_kernel(cview<V> a, double low, double high, cview<V> x, view<V> y) {
  __shared__ V room[tile];
  constexpr index_t share = index_t(threads) * points<V>;
  for (index_t first = blockIdx.x * share; first < x.size; first += gridDim.x * share) {
    place<V> at[points<V>];
    clenshaw<V> sum[points<V>];
    bool ends = false;
#pragma unroll
    for (int j = 0; j < points<V>; ++j) {
      const index_t i = first + j * threads + threadIdx.x;
      at[j] = place<V>::of(low, high, i < x.size ? double(x[i]) : low + (high - low) / 2);
      ends = ends || at[j].turn != V(0);
    }
    ends = __syncthreads_or(ends);
    for (index_t end = a.size; end > 1;) { // a_(end - 1) is the next one; a_0 is added at the end
      const int count = static_cast<int>(end - 1 < tile ? end - 1 : tile);
      __syncthreads();
      for (int k = threadIdx.x; k < count; k += threads) room[k] = a[end - count + k];
      __syncthreads();
      if (ends) add_coefficients<true>(room, count, at, sum);
      else add_coefficients<false>(room, count, at, sum);
      end -= count;
    }
#pragma unroll
    for (int j = 0; j < points<V>; ++j) {
      const index_t i = first + j * threads + threadIdx.x;
      if (i < x.size) y[i] = a.empty() ? V(0) : sum[j].value(at[j], a[0]);
    }
  }
}

} // namespace

template <class V> void evaluate_on_gpu(cview<V> a, interval on, cview<V> x, view<V> y) {
  const gpu::queue& q = gpu::current_queue();
  const unsigned blocks = gpu::blocks_for((x.size + points<V> - 1) / points<V>, threads, q, rounds);
  evaluate_kernel<<<blocks, threads, 0, q.stream>>>(a, on.low, on.high, x, y);
  gpu::check_launch();
}

template void evaluate_on_gpu(cview<double>, interval, cview<double>, view<double>);
template void evaluate_on_gpu(cview<float>, interval, cview<float>, view<float>);

} // namespace furrow::chebyshev
