// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"

#include "backends/gpu/reduce.hpp"

#include <string>

/// The classic kernels, to read and to compare with: a thread, a block of 256 or a warp for each coefficient. They work
/// for both conventions, all lengths and all coefficients of the product. One product is one row of the grid.
namespace furrow::chebyshev {
namespace {

constexpr int threads = 256;

/// What the kernels know: the batches, the lengths, the convention.
template <class V> struct job {
  batch<const V> a, b;
  batch<V> c;
  product_shape shape;
  convention series;

  __device__ factor<V> left(index_t s) const { return factor_at(a, shape.na, s); }
  __device__ factor<V> right(index_t s) const { return factor_at(b, shape.nb, s); }
  __device__ void store(index_t s, index_t k, V sum) const {
    c.data[s * c.stride + k] = coefficient_of(sum, k, series);
  }

private:
  __device__ factor<V> factor_at(const batch<const V>& from, index_t size, index_t s) const {
    return {series_at(from, s), size, series == convention::plain ? V(2) : V(1)};
  }
};

/// A thread a coefficient.
template <class V> __global__ void thread_kernel(job<V> j, index_t first) {
  const index_t k = index_t(blockIdx.x) * threads + threadIdx.x, s = first + blockIdx.y;
  if (k < j.shape.keep) j.store(s, k, partial(lanes{0, 1}, j.left(s), j.right(s), k));
}

/// A block a coefficient.
template <class V> __global__ void __launch_bounds__(threads) block_kernel(job<V> j, index_t first) {
  __shared__ V room[threads / gpu::warp];
  const index_t k = blockIdx.x, s = first + blockIdx.y;
  const V mine = partial(lanes{int(threadIdx.x), threads}, j.left(s), j.right(s), k);
  const V sum = gpu::sum_block<threads>(mine, room);
  if (threadIdx.x == 0) j.store(s, k, sum);
}

/// A warp a coefficient.
template <class V> __global__ void __launch_bounds__(threads) warp_kernel(job<V> j, index_t first) {
  const index_t k = (index_t(blockIdx.x) * threads + threadIdx.x) / gpu::warp, s = first + blockIdx.y;
  if (k >= j.shape.keep) return; // whole warps leave together
  const int lane = threadIdx.x % gpu::warp;
  const V sum = gpu::sum_lanes<gpu::warp>(partial(lanes{lane, gpu::warp}, j.left(s), j.right(s), k));
  if (lane == 0) j.store(s, k, sum);
}

template <class V> class classic final : public sums_engine<V, gpu_array<V>> {
public:
  explicit classic(const product_task& task) : sums_engine<V, gpu_array<V>>(task) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    const product_task& t = this->task;
    const job<V> j{a, b, c, t.shape, t.series};
    const index_t per_block = t.how == algorithm::thread  ? threads
                              : t.how == algorithm::block ? 1
                                                          : threads / gpu::warp;
    const index_t blocks = (t.shape.keep + per_block - 1) / per_block;
    if (blocks >= index_t(1) << 31)
      throw error(fault::usage, "the kernel '" + std::string(name_of(t.how)) +
                                    "' has no grid for that many coefficients: choose direct");
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < t.count; first += most) {
      const dim3 grid(unsigned(blocks), unsigned(t.count - first < most ? t.count - first : most));
      if (t.how == algorithm::thread) thread_kernel<<<grid, threads, 0, stream>>>(j, first);
      else if (t.how == algorithm::block) block_kernel<<<grid, threads, 0, stream>>>(j, first);
      else warp_kernel<<<grid, threads, 0, stream>>>(j, first);
      gpu::check(cudaGetLastError());
    }
  }
  double memory_bytes() const override { return double(this->fixed_.byte_count()); }
};

} // namespace

template <class V> engine_pointer<V> gpu_classic(const product_task& task) {
  return std::make_unique<classic<V>>(task);
}
template engine_pointer<double> gpu_classic<double>(const product_task&);
template engine_pointer<float> gpu_classic<float>(const product_task&);

} // namespace furrow::chebyshev
