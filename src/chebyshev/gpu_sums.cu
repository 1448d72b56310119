// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "matrix_units.hpp"
#include "sum_tiles.hpp"

#include "backends/gpu/hand_over.hpp"
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
  unsigned* arrived;       ///< chunks of product s, tile, that have left theirs, or tickets drawn; 0 between kernels
  index_t tiles, chunks;
  int na, nb, nonzero, stage;
  convention series;
};

using t = sum_tile;
inline constexpr int room_of_all = room_of_p + room_of_q;
inline constexpr int row = t::left(t::size), each = t::size / t::threads; ///< of sums; of a thread
static_assert(row * t::warps <= room_of_all && t::size % t::threads == 0);

/// One more has arrived, with all that its block has written; how many before it. What they wrote can be read.
__device__ unsigned arrive(unsigned* counter) {
  unsigned before = 0;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
}

/// The sums of a thread over what the chunks of a tile have left, in their order; the loads of several are under way.
__device__ void add_chunks(const double* partial, int chunks, double (&total)[each]) {
  constexpr int together = 9;
#pragma unroll
  for (int e = 0; e < each; ++e) total[e] = 0;
  for (int first = 0; first < chunks; first += together) {
    double of[together][each];
#pragma unroll
    for (int j = 0; j < together; ++j)
#pragma unroll
      for (int e = 0; e < each; ++e) of[j][e] = __ldcg(partial + min(first + j, chunks - 1) * t::size + e * t::threads);
#pragma unroll
    for (int j = 0; j < together; ++j)
#pragma unroll
      for (int e = 0; e < each; ++e)
        if (first + j < chunks) total[e] += of[j][e];
  }
}

/// The sums of a warp into its row.
__device__ void put_row(double* room, int rank, const double (&sum)[t::blocks][4]) {
#pragma unroll
  for (int r = 0; r < t::blocks; ++r)
#pragma unroll
    for (int v = 0; v < 4; ++v) room[rank / 32 * row + t::left(coefficient_at(rank % 32, r, v))] = sum[r][v];
}

/// The sums of a thread over the rows, in their order.
__device__ void add_rows(const double* room, int rank, double (&total)[each]) {
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const double* const from = room + t::left(rank) + e * t::left(t::threads);
    total[e] = from[0];
#pragma unroll
    for (int warp = 1; warp < t::warps; ++warp) total[e] += from[warp * row];
  }
}

template <class V>
__device__ void put_coefficients(const work<V>& w, index_t s, int k0, int rank, const double (&total)[each]) {
  V* const c = w.c.data + s * w.c.stride;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const int k = k0 + rank + e * t::threads;
    if (k < w.nonzero) c[k] = V(coefficient_of(total[e], k, w.series));
  }
}

/// A block adds up one chunk of the terms of one tile of coefficients; the last block of a tile adds the chunks.
template <class V>
__global__ void __launch_bounds__(t::threads, 2)
    sums_kernel(work<V> w, index_t first_product, const __grid_constant__ near_pieces near) {
  __shared__ double room[room_of_all];
  __shared__ bool last;
  double *const p = room, *const q = room + room_of_p;
  const sum_piece piece = w.pieces ? w.pieces[blockIdx.x] : near.at[blockIdx.x];
  const index_t s = first_product + blockIdx.y;
  const V *const a = series_at(w.a, s), *const b = series_at(w.b, s);
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
  double* const partial = w.partial + tile * w.chunks * t::size + rank;
  double total[each];
  add_rows(room, rank, total);
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
  put_coefficients(w, s, k0, rank, total);
}

/// Warps that bring the rest of a stage while the others multiply the head. There are as many as parts of a
/// multiprocessor; with eight the others lose more than the earlier end gives.
inline constexpr int bringing_warps = 4, alone_threads = t::threads + 32 * bringing_warps;

/// The same where blocks are alone (see sum_plan), so that nobody else's work hides what a block waits for. It begins
/// when a fifth of its elements has come. The block that drew the last ticket of a tile takes the sums of the others,
/// which need no fence then, a row a warp; its own do not leave it. Rows are added by one program both times.
template <class V>
__global__ void __launch_bounds__(alone_threads, 1)
    sums_alone_kernel(work<V> w, index_t first_product, const __grid_constant__ near_pieces near) {
  __shared__ alignas(16) double room[room_of_all];
  __shared__ unsigned ticket;
  double *const p = room, *const q = room + room_of_p;
  const sum_piece piece = w.pieces ? w.pieces[blockIdx.x] : near.at[blockIdx.x];
  const index_t s = first_product + blockIdx.y, tile = s * w.tiles + piece.tile;
  const V *const a = series_at(w.a, s), *const b = series_at(w.b, s);
  const bool plain = w.series == convention::plain;
  const int rank = int(threadIdx.x), warp = rank / 32, lane = rank % 32, k0 = piece.tile * t::size;
  const int stage = piece.terms, head = min(stage, t::most_head), i = piece.begin, j = k0 - i - stage + 1;
  const bool multiplies = rank < t::threads;
  {
    const stage_part part = stage_part::head(stage, head);
    stage_elements<V, t::of_p(t::most_head), t::of_q(t::most_head), alone_threads> elements;
    elements.load(a, w.na, b, w.nb, i + part.of_p, j + part.of_q, rank);
    elements.store(p, q, i, j, part, plain, rank);
  }
  __syncthreads();
  double sum[t::blocks][4] = {};
  const auto add = [&](int first, int last) {
    add_terms(p, q, stage, first, last, rank,
              [&](int r, const double(&of_q)[4], const double(&of_p)[2]) { multiply_matrices(sum[r], of_q, of_p); });
  };
  if (multiplies) {
    add(0, head);
    if (head < stage) {
      asm volatile("bar.sync 1, %0;" ::"n"(alone_threads) : "memory"); // until the rest is there
      add(head, stage);
    }
  } else if (head < stage) {
    constexpr int most = t::most_stage - t::most_head;
    const stage_part part = stage_part::rest(stage, head);
    stage_elements<V, most, most, alone_threads - t::threads> elements;
    elements.load(a, w.na, b, w.nb, i + part.of_p, j + part.of_q, rank - t::threads);
    elements.store(p, q, i, j, part, plain, rank - t::threads);
    asm volatile("bar.arrive 1, %0;" ::"n"(alone_threads) : "memory");
  }
  unsigned drawn = 0;
  const bool draws = rank == alone_threads - 1; // of those who have least to do
  if (draws && piece.chunks > 1) drawn = gpu::draw_ticket(w.arrived + tile);
  __syncthreads();
  if (multiplies) put_row(room, rank, sum);
  if (draws) ticket = drawn;
  double* const partial = w.partial + tile * w.chunks * t::size;
  double total[each];
  for (bool chunks = false;; chunks = true) { // rows: of the warps of this block, then of the chunks
    __syncthreads();
    if (multiplies) add_rows(room, rank, total);
    if (chunks || piece.chunks == 1) break;
    if (ticket != piece.chunks - 1u) {
#pragma unroll
      for (int e = 0; e < each; ++e)
        if (multiplies) gpu::leave(partial + piece.chunk * t::size + rank + e * t::threads, total[e]);
      return;
    }
    if (draws) w.arrived[tile] = 0;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < each; ++e)
      if (multiplies) room[piece.chunk % t::warps * row + t::left(rank) + e * t::left(t::threads)] = total[e];
    __syncthreads();
    if (!multiplies) continue;
    constexpr int loads = t::size / 64; // of a lane, two neighbours each
    const auto place = [&](int u) {
      return reinterpret_cast<double2*>(room + warp * row + t::left(64 * u) + 2 * lane);
    };
    double2 of[loads] = {};
#pragma unroll 1
    for (int chunk = warp; chunk < piece.chunks; chunk += t::warps) {
      double2 taken[loads];
      if (chunk != piece.chunk) {
        gpu::take_all(taken, [&](int u) { return partial + chunk * t::size + 64 * u + 2 * lane; });
      } else {
#pragma unroll
        for (int u = 0; u < loads; ++u) taken[u] = *place(u);
      }
#pragma unroll
      for (int u = 0; u < loads; ++u) of[u] = {of[u].x + taken[u].x, of[u].y + taken[u].y};
    }
#pragma unroll
    for (int u = 0; u < loads; ++u) *place(u) = of[u];
  }
  if (multiplies) put_coefficients(w, s, k0, rank, total);
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
    kernel_ = plan.alone ? sums_alone_kernel<V> : sums_kernel<V>;
    threads_ = plan.alone ? alone_threads : t::threads;
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
    const auto stream = gpu::current_queue().stream;
    gpu::check(cudaMemsetAsync(partial_.data(), gpu::empty_byte, partial_.byte_count(), stream));
    gpu::check(cudaMemsetAsync(arrived_.data(), 0, arrived_.byte_count(), stream));
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
      kernel_<<<grid, threads_, 0, stream>>>(w, first, near_);
      gpu::check(cudaGetLastError());
    }
    for (index_t s = 0; s < task.count && zeros > 0; ++s)
      gpu::check(cudaMemsetAsync(c.data + s * c.stride + n, 0, std::size_t(zeros) * sizeof(V), stream));
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
