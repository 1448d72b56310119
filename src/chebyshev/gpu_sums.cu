// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "sum_tiles.hpp"

#include "backends/gpu/queue.hpp"

#include <string>

namespace furrow::chebyshev {
namespace {

/// Blocks on a multiprocessor that a cut aims at, and the lanes that add the partial sums of 32 coefficients.
constexpr int blocks_aimed_at = 8, adders = 8;

template <class V> struct work {
  batch<const V> a, b;
  V* out; ///< partial sums, chunk by chunk, `stride` apart; or, where there is one chunk, the result
  index_t stride, product_stride;
  sum_plan plan;
  convention series;
  bool last; ///< write coefficients
};

/// A block adds up one chunk of the terms of one tile of coefficients.
template <class V>
__global__ void __launch_bounds__(sum_tile_of<V>::threads) sums_kernel(work<V> w, index_t first_product) {
  using t = sum_tile_of<V>;
  __shared__ alignas(16) V p[t::steps], q[t::tile + t::steps];
  const index_t chunk = blockIdx.x % w.plan.chunks, which = blockIdx.x / w.plan.chunks, s = first_product + blockIdx.y;
  if (chunk >= w.plan.chunks_of(which)) return;
  const V first = w.series == convention::plain ? V(2) : V(1);
  const factor<V> a{series_at(w.a, s), w.plan.shape.na, first}, b{series_at(w.b, s), w.plan.shape.nb, first};
  const index_range all = w.plan.chunk(which, chunk);
  const index_t k = which * t::tile;
  const int rank = threadIdx.x;
  V sum[t::outputs] = {};
  for (index_t i = all.begin; i < all.end; i += t::steps) {
    __syncthreads();
    if (rank < t::steps) p[rank] = stage_p(a, {i, all.end}, rank);
#pragma unroll 4
    for (int x = rank; x < t::tile + t::steps; x += t::threads) q[x] = stage_q(b, k, i, x);
    __syncthreads();
    if constexpr (sizeof(V) == 4) { // stage by stage: a long sum in single precision would drift
      V part[t::outputs] = {};
      add_stage(p, q, rank, part);
#pragma unroll
      for (int r = 0; r < t::outputs; ++r) sum[r] += part[r];
    } else {
      add_stage(p, q, rank, sum);
    }
  }
  // Through shared memory, so that neighbours write neighbours.
  __syncthreads();
  for (int r = 0; r < t::outputs; ++r) q[rank * t::outputs + r] = sum[r];
  __syncthreads();
  V* const to = w.out + s * w.product_stride + chunk * w.stride + k;
  const int count = int(w.plan.tile_end(which) - k);
  for (int r = rank; r < count; r += t::threads) to[r] = w.last ? coefficient_of(q[r], k + r, w.series) : q[r];
}

/// Adds the partial sums of 32 coefficients: every adders-th chunk each, then the adders in their order.
template <class V>
__global__ void __launch_bounds__(32 * adders) add_chunks_kernel(work<V> w, batch<V> c, index_t first) {
  __shared__ V room[adders][32];
  const index_t k = index_t(blockIdx.x) * 32 + threadIdx.x, s = first + blockIdx.y, n = w.plan.shape.nonzero();
  V sum = 0;
  if (k < n) {
    const index_t chunks = w.plan.chunks_of(k / w.plan.tile);
    const V* const from = w.out + s * w.product_stride + k;
#pragma unroll 4
    for (index_t j = threadIdx.y; j < chunks; j += adders) sum += __ldcg(from + j * w.stride);
  }
  room[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || k >= w.plan.shape.keep) return;
  for (int j = 1; j < adders; ++j) sum += room[j][threadIdx.x];
  c.data[s * c.stride + k] = coefficient_of(sum, k, w.series);
}

template <class V> class sums final : public sums_engine<V, gpu_array<V>> {
  using t = sum_tile_of<V>;

public:
  explicit sums(const product_task& task)
      : sums_engine<V, gpu_array<V>>(task),
        plan_(cut_sums(task.shape, task.count, t::tile, t::steps,
                       index_t(gpu::current_queue().multiprocessors) * blocks_aimed_at)) {
    const index_t blocks = plan_.tiles * plan_.chunks;
    check(blocks < (index_t(1) << 31), fault::usage,
          "products of so many coefficients are not for the sums: choose the algorithm fft");
    if (plan_.chunks > 1) partial_.resize(task.count * plan_.chunks * task.shape.nonzero());
  }

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    const product_task& task = this->task;
    const bool one = plan_.chunks == 1;
    const index_t n = task.shape.nonzero();
    work<V> w{a, b, one ? c.data : partial_.data(), n, one ? c.stride : plan_.chunks * n, plan_, task.series, one};
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < task.count; first += most) {
      const auto rows = unsigned(task.count - first < most ? task.count - first : most);
      sums_kernel<<<dim3(unsigned(plan_.tiles * plan_.chunks), rows), t::threads, 0, stream>>>(w, first);
      gpu::check(cudaGetLastError());
      if (one) {
        for (index_t s = first; s < first + rows && task.shape.keep > n; ++s)
          gpu::check(
              cudaMemsetAsync(c.data + s * c.stride + n, 0, std::size_t(task.shape.keep - n) * sizeof(V), stream));
        continue;
      }
      const dim3 grid(unsigned((task.shape.keep + 31) / 32), rows);
      add_chunks_kernel<<<grid, dim3(32, adders), 0, stream>>>(w, c, first);
      gpu::check(cudaGetLastError());
    }
  }
  double memory_bytes() const override { return double(partial_.byte_count() + this->fixed.byte_count()); }

private:
  sum_plan plan_;
  gpu_array<V> partial_;
};

} // namespace

template <class V> engine_pointer<V> gpu_sums(const product_task& task) { return std::make_unique<sums<V>>(task); }
template engine_pointer<double> gpu_sums<double>(const product_task&);
template engine_pointer<float> gpu_sums<float>(const product_task&);

} // namespace furrow::chebyshev
