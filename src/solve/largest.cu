// SPDX-License-Identifier: BSD-3-Clause
#include "largest.hpp"

#include "backends/gpu/queue.hpp"

#include <bit>
#include <cstring>

namespace furrow {
namespace {

constexpr int block_threads = 256;

/// Sizes are compared by their bits, in whose order a NaN comes after infinity; a largest one does not depend on the
/// order of the blocks.
template <class V>
__global__ void __launch_bounds__(block_threads) largest_kernel(cview<V> v, unsigned long long* largest) {
  unsigned long long mine = 0;
  const index_t stride = index_t(gridDim.x) * block_threads;
  for (index_t i = index_t(blockIdx.x) * block_threads + threadIdx.x; i < v.size; i += stride) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(fabs(double(v[i]))));
    mine = bits > mine ? bits : mine;
  }
  for (int distance = gpu::warp / 2; distance > 0; distance /= 2) {
    const auto other = gpu::from_lane_across<gpu::warp>(mine, distance);
    mine = other > mine ? other : mine;
  }
  if (threadIdx.x % gpu::warp == 0) atomicMax(largest, mine);
}

} // namespace

template <class V> double largest_on_gpu(cview<V> v) {
  if (v.empty()) return 0;
  const gpu::queue& q = gpu::current_queue();
  gpu_array<unsigned long long> largest(1);
  gpu::fill_bytes(largest, 0);
  largest_kernel<<<gpu::blocks_for(v.size, block_threads, q, 8), block_threads, 0, q.stream>>>(v, largest.data());
  gpu::check_launch();
  return std::bit_cast<double>(host_array<unsigned long long>(largest)[0]);
}

/// By a constant that bytes make, which takes no kernel of its own.
template <class V> double largest_row_sum_on_gpu(const any_operator<V>& a) {
  constexpr int byte = 0x3f;
  V constant;
  std::memset(&constant, byte, sizeof constant);
  gpu_array<V> x(a.shape().cols), sums(a.shape().rows);
  gpu::fill_bytes(x, byte);
  a.apply(V(1), as_cview(x), V(0), as_view(sums));
  return largest_on_gpu(as_cview(sums)) / double(constant);
}

template double largest_row_sum_on_gpu(const any_operator<double>&);
template double largest_row_sum_on_gpu(const any_operator<float>&);
template double largest_on_gpu(cview<double>);
template double largest_on_gpu(cview<float>);

} // namespace furrow
