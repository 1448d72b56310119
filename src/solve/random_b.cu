// SPDX-License-Identifier: BSD-3-Clause
#include "random_b.hpp"

#include "backends/gpu/launch.hpp"

namespace furrow {
namespace {

constexpr int block_threads = 256;

template <class V>
__global__ void __launch_bounds__(block_threads) begin_at_random_kernel(view<V> b, view<V> y, cview<V> m) {
  const index_t stride = index_t(gridDim.x) * block_threads;
  for (index_t i = index_t(blockIdx.x) * block_threads + threadIdx.x; i < b.size; i += stride) {
    const V of_b = V(drawn_of_b(std::uint64_t(i)));
    b[i] = m.empty() ? of_b : of_b / sqrt(m[i]);
    y[i] = 0;
  }
}

} // namespace

template <class V> void begin_at_random_on_gpu(view<V> b, view<V> y, cview<V> m) {
  if (b.empty()) return;
  const gpu::queue& q = gpu::current_queue();
  begin_at_random_kernel<<<gpu::blocks_for(b.size, block_threads, q, 8), block_threads, 0, q.stream>>>(b, y, m);
  gpu::check_launch();
}

template void begin_at_random_on_gpu(view<double>, view<double>, cview<double>);
template void begin_at_random_on_gpu(view<float>, view<float>, cview<float>);

} // namespace furrow
