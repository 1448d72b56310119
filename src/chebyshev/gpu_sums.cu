// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "sum_tiles.hpp"

#include "backends/gpu/queue.hpp"

#include <string>

namespace furrow::chebyshev {
namespace {

template <class V> struct work {
  batch<const V> a, b;
  batch<V> c;
  V* partial;        ///< of product s, tile, chunk: a tile of sums; nothing where there is one chunk
  unsigned* arrived; ///< chunks of product s, tile, that have left theirs; 0 between kernels
  sum_plan plan;
  convention series;
};

/// A block adds up one chunk of the terms of one tile of coefficients; the last block of a tile adds the chunks.
template <class V>
__global__ void __launch_bounds__(sum_tile_of<V>::threads, blocks_held) sums_kernel(work<V> w, index_t first_product) {
  using t = sum_tile_of<V>;
  constexpr int most_p = (t::most_stage + t::threads - 1) / t::threads;
  constexpr int most_q = (t::most_stage + t::tile + t::threads - 1) / t::threads;
  constexpr int held = 2 * t::most_stage + t::tile, left = t::warps * t::tile;
  __shared__ alignas(16) V room[held > left ? held : left];
  __shared__ bool last;
  const int stage = w.plan.stage;
  V *const p = room, *const q = room + stage;
  const unsigned widest = unsigned(w.plan.chunks);
  const index_t chunk = blockIdx.x % widest, which = blockIdx.x / widest, s = first_product + blockIdx.y;
  const index_t chunks = w.plan.chunks_of(which);
  if (chunk >= chunks) return;
  const V first = w.series == convention::plain ? V(2) : V(1);
  const factor<V> a{series_at(w.a, s), w.plan.shape.na, first}, b{series_at(w.b, s), w.plan.shape.nb, first};
  const index_range all = w.plan.chunk(which, chunk);
  const index_t k = which * t::tile;
  const int rank = threadIdx.x;
  V sum[t::outputs] = {};
  for (index_t i = all.begin; i < all.end; i += stage) {
    V of_p[most_p], of_q[most_q]; // all loads under way before the first store
#pragma unroll
    for (int j = 0; j < most_p; ++j) of_p[j] = stage_p(a, {i, all.end}, rank + j * t::threads);
#pragma unroll
    for (int j = 0; j < most_q; ++j) of_q[j] = stage_q(b, k, i, stage, rank + j * t::threads);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < most_p; ++j)
      if (rank + j * t::threads < stage) p[rank + j * t::threads] = of_p[j];
#pragma unroll
    for (int j = 0; j < most_q; ++j)
      if (rank + j * t::threads < stage + t::tile) q[rank + j * t::threads] = of_q[j];
    __syncthreads();
    if constexpr (sizeof(V) == 4) { // stage by stage: a long sum in single precision would drift
      V part[t::outputs] = {};
      add_stage(p, q, stage / t::warps, rank, part);
#pragma unroll
      for (int r = 0; r < t::outputs; ++r) sum[r] += part[r];
    } else {
      add_stage(p, q, stage / t::warps, rank, sum);
    }
  }
  __syncthreads();
  V* const mine = room + rank * t::outputs; // a tile a warp
#pragma unroll
  for (int r = 0; r < t::outputs; ++r) mine[r] = sum[r];
  __syncthreads();
  const int count = int(w.plan.tile_end(which) - k);
  const index_t tile = s * w.plan.tiles + which;
  V* const partial = w.partial + tile * w.plan.chunks * t::tile;
  V* const c = w.c.data + s * w.c.stride + k;
  for (int r = rank; r < count; r += t::threads) {
    V total = room[r];
    for (int warp = 1; warp < t::warps; ++warp) total += room[warp * t::tile + r];
    if (chunks == 1) c[r] = coefficient_of(total, k + r, w.series);
    else partial[chunk * t::tile + r] = total;
  }
  if (chunks == 1) return;
  __threadfence();
  __syncthreads();
  if (rank == 0) last = atomicAdd(w.arrived + tile, 1u) == chunks - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int r = rank; r < count; r += t::threads) {
    V total = 0;
#pragma unroll 8
    for (index_t j = 0; j < chunks; ++j) total += __ldcg(partial + j * t::tile + r);
    c[r] = coefficient_of(total, k + r, w.series);
  }
  if (rank == 0) w.arrived[tile] = 0;
}

template <class V> class sums final : public sums_engine<V, gpu_array<V>> {
  using t = sum_tile_of<V>;

public:
  explicit sums(const product_task& task)
      : sums_engine<V, gpu_array<V>>(task),
        plan_(cut_sums<t>(task.shape, task.count, gpu::current_queue().multiprocessors)) {
    check(plan_.tiles * plan_.chunks < (index_t(1) << 31), fault::usage,
          "products of so many coefficients are not for the sums: choose the algorithm fft");
    if (plan_.chunks == 1) return;
    partial_.resize(task.count * plan_.tiles * plan_.chunks * t::tile);
    arrived_.resize(task.count * plan_.tiles);
    gpu::check(cudaMemsetAsync(arrived_.data(), 0, arrived_.byte_count(), gpu::current_queue().stream));
  }

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    const product_task& task = this->task;
    const index_t n = task.shape.nonzero(), zeros = task.shape.keep - n;
    const work<V> w{a, b, c, partial_.data(), arrived_.data(), plan_, task.series};
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < task.count; first += most) {
      const dim3 grid(unsigned(plan_.tiles * plan_.chunks),
                      unsigned(task.count - first < most ? task.count - first : most));
      sums_kernel<<<grid, t::threads, 0, stream>>>(w, first);
      gpu::check(cudaGetLastError());
    }
    for (index_t s = 0; s < task.count && zeros > 0; ++s)
      gpu::check(cudaMemsetAsync(c.data + s * c.stride + n, 0, std::size_t(zeros) * sizeof(V), stream));
  }
  double memory_bytes() const override {
    return double(partial_.byte_count() + arrived_.byte_count() + this->fixed.byte_count());
  }

private:
  sum_plan plan_;
  gpu_array<V> partial_;
  gpu_array<unsigned> arrived_;
};

} // namespace

template <class V> engine_pointer<V> gpu_sums(const product_task& task) { return std::make_unique<sums<V>>(task); }
template engine_pointer<double> gpu_sums<double>(const product_task&);
template engine_pointer<float> gpu_sums<float>(const product_task&);

} // namespace furrow::chebyshev
