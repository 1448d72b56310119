// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "matrix_units.hpp"
#include "sum_tiles.hpp"

#include "backends/gpu/replay.hpp"

#include <algorithm>
#include <tuple>

namespace furrow::chebyshev {
namespace {

/// Pieces that come with the launch, so that a block does not fetch its own before it can fetch anything else.
struct near_pieces {
  static constexpr int most = 192; ///< with 16 bytes each all arguments stay below 4 KiB
  sum_piece at[most];
};

template <class V> struct work {
  batch<const V> a, b;
  batch<V> c;
  const sum_piece* pieces; ///< in memory, or null: they are near
  double* partial;         ///< of product s, tile, chunk: a tile of sums; nothing where there is one chunk
  unsigned* arrived;       ///< chunks of product s, tile, that have left theirs; 0 between kernels
  index_t tiles, chunks;
  int na, nb, nonzero, stage;
  convention series;
};

/// One more has arrived, with all that its block has written; how many before it. What they wrote can be read.
__device__ unsigned arrive(unsigned* counter) {
  unsigned before = 0;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

/// The sums of a thread over what the chunks of a tile have left, in their order; the loads of several are under way.
template <int Each> __device__ void add_chunks(const double* partial, int chunks, double (&total)[Each]) {
  constexpr int together = 9;
#pragma unroll
  for (int e = 0; e < Each; ++e) total[e] = 0;
  for (int first = 0; first < chunks; first += together) {
    double of[together][Each];
#pragma unroll
    for (int j = 0; j < together; ++j)
#pragma unroll
      for (int e = 0; e < Each; ++e)
        of[j][e] = __ldcg(partial + min(first + j, chunks - 1) * sum_tile::size + e * sum_tile::threads);
#pragma unroll
    for (int j = 0; j < together; ++j)
#pragma unroll
      for (int e = 0; e < Each; ++e)
        if (first + j < chunks) total[e] += of[j][e];
  }
}

/// A block adds up one chunk of the terms of one tile of coefficients; the last block of a tile adds the chunks.
template <class V>
__global__ void __launch_bounds__(sum_tile::threads, 2)
    sums_kernel(work<V> w, index_t first_product, const __grid_constant__ near_pieces near) {
  using t = sum_tile;
  constexpr int held = room_of_p + room_of_q, left = t::left(t::size), each = t::size / t::threads;
  static_assert(left * t::warps <= held && t::size % t::threads == 0);
  __shared__ double room[held];
  __shared__ bool last;
  double *const p = room, *const q = room + room_of_p;
  const auto place_p = [](int x) { return t::place(x); };
  const auto place_q = [](int x) { return x; };
  const sum_piece piece = w.pieces ? w.pieces[blockIdx.x] : near.at[blockIdx.x];
  const index_t s = first_product + blockIdx.y;
  const V *const a = series_at(w.a, s), *const b = series_at(w.b, s);
  const int rank = int(threadIdx.x), k0 = piece.tile * t::size;
  double sum[t::blocks][4] = {};
  for (int round = 0; round < piece.rounds; ++round) {
    const int i = piece.begin + round * w.stage, j = k0 - i - w.stage + 1; // first elements of p and q
    staged<V, t::of_p(t::most_stage)> of_p;
    staged<V, t::of_q(t::most_stage)> of_q;
    of_p.load(a, w.na, i, rank);
    of_q.load(b, w.nb, j, rank);
    if (round > 0) __syncthreads();
    of_p.store(p, t::of_p(w.stage), rank, place_p);
    of_q.store(q, t::of_q(w.stage), rank, place_q);
    if (w.series == convention::plain) {
      double_first(p, i, t::of_p(w.stage), rank, place_p);
      double_first(q, j, t::of_q(w.stage), rank, place_q);
    }
    __syncthreads();
    add_stage(p, q, w.stage, rank,
              [&](int r, const double(&of_q)[4], const double(&of_p)[2]) { multiply_matrices(sum[r], of_q, of_p); });
  }
  __syncthreads();
  double* const mine = room + rank / 32 * left; // a tile a warp
#pragma unroll
  for (int r = 0; r < t::blocks; ++r)
#pragma unroll
    for (int v = 0; v < 4; ++v) mine[t::left(coefficient_at(rank % 32, r, v))] = sum[r][v];
  __syncthreads();
  const index_t tile = s * w.tiles + piece.tile;
  double* const partial = w.partial + tile * w.chunks * t::size + rank;
  double total[each];
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const double* const from = room + t::left(rank) + e * t::left(t::threads);
    total[e] = from[0];
#pragma unroll
    for (int warp = 1; warp < t::warps; ++warp) total[e] += from[warp * left];
  }
  if (piece.chunks > 1) {
#pragma unroll
    for (int e = 0; e < each; ++e) __stcg(partial + piece.chunk * t::size + e * t::threads, total[e]);
    __syncthreads();
    if (rank == 0) last = arrive(w.arrived + tile) == piece.chunks - 1u;
    __syncthreads();
    if (!last) return;
    if (rank == 0) w.arrived[tile] = 0;
    add_chunks(partial, int(piece.chunks), total);
  }
  V* const c = w.c.data + s * w.c.stride;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const int k = k0 + rank + e * t::threads;
    if (k < w.nonzero) c[k] = V(coefficient_of(total[e], k, w.series));
  }
}

template <class V> class sums final : public sums_engine<V, gpu_array<V>> {
  using t = sum_tile;

public:
  explicit sums(const product_task& task) : sums_engine<V, gpu_array<V>>(task) {
    constexpr index_t longest = index_t(1) << 29; // what a stage reads, zeros too, has indices of 32 bits
    check(task.shape.na <= longest && task.shape.nb <= longest, fault::usage,
          "products of more than 2^29 coefficients are not for the sums on a GPU: choose the algorithm fft");
    const sum_plan plan = cut_sums(task.shape, task.count, gpu::current_queue().multiprocessors);
    stage_ = plan.stage;
    tiles_ = plan.tiles;
    chunks_ = plan.chunks;
    blocks_ = unsigned(plan.pieces.size());
    if (blocks_ <= near_pieces::most) {
      std::ranges::copy(plan.pieces, near_.at);
    } else {
      host_array<sum_piece> pieces(index_t(blocks_), sum_piece{});
      std::ranges::copy(plan.pieces, pieces.begin());
      pieces_ = gpu_array<sum_piece>(pieces);
    }
    if (chunks_ == 1) return;
    partial_.resize(task.count * tiles_ * chunks_ * t::size);
    arrived_.resize(task.count * tiles_);
    gpu::check(cudaMemsetAsync(arrived_.data(), 0, arrived_.byte_count(), gpu::current_queue().stream));
  }

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    replay_.run({a.data, a.count, a.stride, b.data, b.count, b.stride, c.data, c.stride}, [&] { enqueue(a, b, c); });
  }
  double memory_bytes() const override {
    return double(pieces_.byte_count() + partial_.byte_count() + arrived_.byte_count() + this->fixed.byte_count());
  }

private:
  void enqueue(batch<const V> a, batch<const V> b, batch<V> c) {
    const product_task& task = this->task;
    const index_t n = task.shape.nonzero(), zeros = task.shape.keep - n;
    const work<V> w{a,
                    b,
                    c,
                    pieces_.empty() ? nullptr : pieces_.data(),
                    partial_.data(),
                    arrived_.data(),
                    tiles_,
                    chunks_,
                    int(task.shape.na),
                    int(task.shape.nb),
                    int(n),
                    stage_,
                    task.series};
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < task.count; first += most) {
      const dim3 grid(blocks_, unsigned(task.count - first < most ? task.count - first : most));
      sums_kernel<<<grid, t::threads, 0, stream>>>(w, first, near_);
      gpu::check(cudaGetLastError());
    }
    for (index_t s = 0; s < task.count && zeros > 0; ++s)
      gpu::check(cudaMemsetAsync(c.data + s * c.stride + n, 0, std::size_t(zeros) * sizeof(V), stream));
  }

  int stage_ = 0;
  index_t tiles_ = 0, chunks_ = 0;
  unsigned blocks_ = 0;
  near_pieces near_{};
  gpu_array<sum_piece> pieces_; ///< where there are too many to be near
  gpu_array<double> partial_;
  gpu_array<unsigned> arrived_;
  gpu::replay<std::tuple<const V*, index_t, index_t, const V*, index_t, index_t, V*, index_t>> replay_;
};

} // namespace

template <class V> engine_pointer<V> gpu_sums(const product_task& task) { return std::make_unique<sums<V>>(task); }
template engine_pointer<double> gpu_sums<double>(const product_task&);
template engine_pointer<float> gpu_sums<float>(const product_task&);

} // namespace furrow::chebyshev
