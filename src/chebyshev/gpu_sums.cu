// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "matrix_units.hpp"
#include "sum_tiles.hpp"

#include "backends/gpu/replay.hpp"
#include "backends/gpu/ticketed_sums.hpp"

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
  unsigned* arrived;       ///< chunks of product s, tile, that have left theirs, or tickets drawn; 0 between kernels
  index_t tiles, chunks;   ///< chunks: places for them in `partial`
  int na, nb, nonzero, stage;
  convention series;
};

using t = sum_tile;
inline constexpr int room_of_all = room_of_p + room_of_q;
static_assert(tile_place::row * t::warps <= room_of_all && t::size == 2 * t::threads);

/// One more has arrived, with all that its block has written; how many before it. What they wrote can be read.
__device__ unsigned arrive(unsigned* counter) {
  unsigned before = 0;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

// A thread has the sums of two neighbours of a tile, coefficients 2 rank and the next.

__device__ double2 plus(double2 a, double2 b) { return {a.x + b.x, a.y + b.y}; }

/// The sums of a warp into its row.
__device__ void put_row(double* room, unsigned rank, const double (&sum)[t::blocks][4]) {
  double* const row = room + rank / 32 * tile_place::row;
#pragma unroll
  for (int r = 0; r < t::blocks; ++r)
#pragma unroll
    for (int v = 0; v < 4; ++v) row[place_of_sum(rank % 32, r, v).left()] = sum[r][v];
}

/// The rows, in their order.
__device__ double2 add_rows(const double* room, unsigned rank) {
  const auto* const from = reinterpret_cast<const double2*>(room + tile_place::of(2 * rank).left());
  double2 total = from[0];
#pragma unroll
  for (int warp = 1; warp < t::warps; ++warp) total = plus(total, from[warp * tile_place::row / 2]);
  return total;
}

inline constexpr int together = 9; ///< chunks that are fetched together

/// What the chunks of a tile have left, in their order.
__device__ double2 add_chunks(const double2* partial, int chunks) {
  double2 total{};
  for (int first = 0; first < chunks; first += together) {
    double2 of[together];
#pragma unroll
    for (int u = 0; u < together; ++u) of[u] = __ldcg(partial + min(first + u, chunks - 1) * t::threads);
#pragma unroll
    for (int u = 0; u < together; ++u)
      if (first + u < chunks) total = plus(total, of[u]);
  }
  return total;
}

/// The same without a fence; there are places for a multiple of those that are fetched together.
__device__ double2 take_chunks(double* partial, int chunks) {
  double2 total{};
  for (int left = chunks; left > 0; left -= together, partial += together * t::size) {
    double2 of[together];
    gpu::collect_all(of, left, [&](int u) { return partial + u * t::size; });
#pragma unroll
    for (int u = 0; u < together; ++u) total = plus(total, of[u]);
  }
  return total;
}

template <class V> __device__ void put_coefficients(const work<V>& w, index_t s, int k, double2 total) {
  V* const c = w.c.data + s * w.c.stride + k;
  if (k < w.nonzero) c[0] = V(coefficient_of(total.x, k, w.series));
  if (k + 1 < w.nonzero) c[1] = V(coefficient_of(total.y, k + 1, w.series));
}

/// A block adds up one chunk of the terms of one tile of coefficients; the last block of a tile adds the chunks.
template <class V>
__global__ void __launch_bounds__(t::threads, 2)
    sums_kernel(work<V> w, index_t first_product, const __grid_constant__ near_pieces near) {
  __shared__ alignas(16) double room[room_of_all];
  __shared__ bool last;
  double *const p = room, *const q = room + room_of_p;
  const sum_piece piece = w.pieces ? w.pieces[blockIdx.x] : near.at[blockIdx.x];
  const index_t s = first_product + blockIdx.y;
  const V *const a = w.a.data + s * w.a.stride, *const b = w.b.data + s * w.b.stride;
  const bool plain = w.series == convention::plain;
  const int rank = int(threadIdx.x), k0 = piece.tile * t::size, stage = min(w.stage, piece.terms);
  double sum[t::blocks][4] = {};
  for (int done = 0; done < piece.terms; done += stage) {
    const int i = piece.begin + done, j = k0 - i - stage + 1;
    stage_elements<V, t::of_p(t::most_stage), t::of_q(t::most_stage), t::threads> elements;
    elements.load(a, w.na, b, w.nb, i, j, rank);
    if (done > 0) __syncthreads();
    elements.store(p, q, i, j, stage_part::whole(stage), plain, rank);
    __syncthreads();
    add_terms(p, q, stage, 0, stage, rank,
              [&](int r, const double(&of_q)[4], const double(&of_p)[2]) { multiply_matrices(sum[r], of_q, of_p); });
  }
  __syncthreads();
  put_row(room, rank, sum);
  __syncthreads();
  const index_t tile = s * w.tiles + piece.tile;
  auto* const partial = reinterpret_cast<double2*>(w.partial + tile * w.chunks * t::size) + rank;
  double2 total = add_rows(room, rank);
  if (piece.chunks > 1) {
    __stcg(partial + piece.chunk * t::threads, total);
    __syncthreads();
    if (rank == 0) last = arrive(w.arrived + tile) == piece.chunks - 1u;
    __syncthreads();
    if (!last) return;
    if (rank == 0) w.arrived[tile] = 0;
    total = add_chunks(partial, piece.chunks);
  }
  put_coefficients(w, s, k0 + 2 * rank, total);
}

/// Barriers of a block, beside that of __syncthreads.
enum barrier : int { rest_is_there = 1, terms_are_added, rows_are_there };
__device__ void wait_at(barrier b, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(b), "r"(threads) : "memory"); }
__device__ void arrive_at(barrier b, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(b), "r"(threads) : "memory");
}

/// Warps that bring the rest of a stage while the others multiply the head. There are as many as parts of a
/// multiprocessor; with eight the others lose more than the earlier end gives.
inline constexpr int bringing_warps = 4, alone_threads = t::threads + 32 * bringing_warps;

/// The same where blocks are alone (see sum_plan), so that nobody else's work hides what a block waits for. It begins
/// when a fifth of its elements has come. The block that drew the last ticket of a tile takes the sums of all, which
/// need no fence then. The branch that brings is written first: the compiler puts the other one right behind the head.
template <class V>
__global__ void __launch_bounds__(alone_threads, 1)
    sums_alone_kernel(work<V> w, index_t, const __grid_constant__ near_pieces near) {
  __shared__ alignas(16) double room[room_of_all];
  __shared__ unsigned ticket;
  double *const p = room, *const q = room + room_of_p;
  const sum_piece piece = near.at[blockIdx.x];
  const unsigned s = blockIdx.y, tile = s * unsigned(w.tiles) + piece.tile;
  const V *const a = w.a.data + s * w.a.stride, *const b = w.b.data + s * w.b.stride;
  const bool plain = w.series == convention::plain;
  const int rank = int(threadIdx.x), k0 = piece.tile * t::size;
  const int stage = piece.terms, head = min(stage, t::most_head), i = piece.begin, j = k0 - i - stage + 1;
  {
    const stage_part part = stage_part::head(stage, head);
    stage_elements<V, t::of_p(t::most_head), t::of_q(t::most_head), alone_threads> elements;
    elements.load(a, w.na, b, w.nb, i + part.of_p, j + part.of_q, rank);
    elements.store(p, q, i, j, part, plain, rank);
  }
  __syncthreads();
  if (rank >= t::threads) {
    if (head < stage) {
      constexpr int most = t::most_stage - t::most_head;
      const stage_part part = stage_part::rest(stage, head);
      stage_elements<V, most, most, alone_threads - t::threads> elements;
      elements.load(a, w.na, b, w.nb, i + part.of_p, j + part.of_q, rank - t::threads);
      elements.store(p, q, i, j, part, plain, rank - t::threads);
      arrive_at(rest_is_there, alone_threads);
    }
    if (rank == t::threads && piece.chunks > 1) ticket = gpu::take_ticket(w.arrived + tile);
    arrive_at(rows_are_there, alone_threads);
  } else {
    double sum[t::blocks][4] = {};
    const auto add = [&](int first, int last) {
      add_terms(p, q, stage, first, last, rank,
                [&](int r, const double(&of_q)[4], const double(&of_p)[2]) { multiply_matrices(sum[r], of_q, of_p); });
    };
    add(0, head);
    if (head < stage) {
      wait_at(rest_is_there, alone_threads);
      add(head, stage);
    }
    wait_at(terms_are_added, t::threads);
    put_row(room, rank, sum);
    wait_at(rows_are_there, alone_threads);
    double2 total = add_rows(room, rank);
    if (piece.chunks > 1) {
      double* const partial = w.partial + tile * unsigned(w.chunks) * std::size_t(t::size) + 2 * rank;
      gpu::publish(partial + piece.chunk * t::size, total.x);
      gpu::publish(partial + piece.chunk * t::size + 1, total.y);
      if (ticket != piece.chunks - 1u) return;
      if (rank == 0) w.arrived[tile] = 0;
      total = take_chunks(partial, piece.chunks);
    }
    put_coefficients(w, s, k0 + 2 * rank, total);
  }
}

template <class V> class sums final : public sums_engine<V, gpu_array<V>> {
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
    const bool near = blocks_ <= near_pieces::most, alone = near && plan.alone;
    kernel_ = alone ? sums_alone_kernel<V> : sums_kernel<V>;
    threads_ = alone ? alone_threads : t::threads;
    if (alone) chunks_ = (chunks_ + together - 1) / together * together;
    if (near) {
      std::ranges::copy(plan.pieces, near_.at);
    } else {
      host_array<sum_piece> pieces(index_t(blocks_), sum_piece{});
      std::ranges::copy(plan.pieces, pieces.begin());
      pieces_ = gpu_array<sum_piece>(pieces);
    }
    if (plan.chunks == 1) return;
    partial_.resize(task.count * tiles_ * chunks_ * t::size);
    arrived_.resize(task.count * tiles_);
    gpu::fill_bytes(partial_, gpu::empty_byte);
    gpu::fill_bytes(arrived_, 0);
  }

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    replay_.run({a.data, a.count, a.stride, b.data, b.count, b.stride, c.data, c.stride}, [&] { enqueue(a, b, c); });
  }
  double memory_bytes() const override {
    return double(pieces_.byte_count() + partial_.byte_count() + arrived_.byte_count() + this->fixed_.byte_count());
  }

private:
  void enqueue(batch<const V> a, batch<const V> b, batch<V> c) {
    const product_task& task = this->task;
    const index_t n = task.shape.nonzero(), zeros = task.shape.keep - n;
    const auto with_stride = [](batch<const V> x) { return x.count == 1 ? batch<const V>{x.data, 1, 0} : x; };
    const work<V> w{with_stride(a),     with_stride(b),     c,      pieces_.empty() ? nullptr : pieces_.data(),
                    partial_.data(),    arrived_.data(),    tiles_, chunks_,
                    int(task.shape.na), int(task.shape.nb), int(n), stage_,
                    task.series};
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < task.count; first += most) {
      const dim3 grid(blocks_, unsigned(task.count - first < most ? task.count - first : most));
      kernel_<<<grid, threads_, 0, stream>>>(w, first, near_);
      gpu::check_launch();
    }
    for (index_t s = 0; s < task.count && zeros > 0; ++s)
      gpu::fill_bytes(c.data + s * c.stride + n, 0, std::size_t(zeros) * sizeof(V), gpu::current_queue());
  }

  void (*kernel_)(work<V>, index_t, near_pieces) = nullptr;
  unsigned threads_ = 0;
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
