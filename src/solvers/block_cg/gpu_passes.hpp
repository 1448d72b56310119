// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "state.hpp"

#include "backends/gpu/block_rows.hpp"
#include "backends/gpu/launch.hpp"
#include "backends/gpu/reduce.hpp"

#include <furrow/array.hpp>

/// Passes over blocks of W vectors that lie row by row, on a GPU. A block of threads takes a tile of rows; a thread has
/// 4 columns of one of them (2 where W is 2), and 4 x 4 elements of the Gram matrices over a share of the tile, which
/// lies in shared memory meanwhile. The block of threads that arrives last adds the partial sums in the order of the
/// blocks, and is the team of the small algebra that follows. The same bits on every run.
namespace furrow::block_cg {

inline constexpr int pass_threads = 256, pass_warps = pass_threads / gpu::warp;

template <int W> struct pass_shape {
  static constexpr int part = W < 4 ? W : 4;              ///< columns of a thread, and sides of its share of a matrix
  static constexpr int across = W / part;                 ///< threads of a row
  static constexpr int rows = pass_threads / across;      ///< of a tile
  static constexpr int of_matrix = across * across;       ///< threads of a matrix
  static constexpr int groups = pass_threads / of_matrix; ///< which share the rows of a tile
  static constexpr int size = W * W;
};

/// The threads of a block.
struct block_team {
  int rank;
  static constexpr int size = pass_threads;
  FURROW_HD void sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
};

/// What lives in shared memory while a pass runs.
template <class V, int W> struct alignas(16) pass_memory {
  V first[pass_threads * pass_shape<W>::part], second[pass_threads * pass_shape<W>::part]; ///< tiles
  V by[2][W * W];                                                                          ///< factors of rows
};
/// And when it ends.
template <int W> struct end_memory {
  union {
    double sums[pass_warps * W * W];
    double sets[pass_threads];
    small_room<W> room;
  };
};
template <class V, int W> union alignas(16) shared_memory {
  pass_memory<V, W> pass;
  end_memory<W> end;
};

/// Where the sums of all blocks meet, and what follows.
template <int W> struct pass_end {
  block_state<W>* state;
  step_record<W>* records;
  index_t kept;
  double* partial; ///< 2 W^2 a block, block by block
  unsigned* arrived;
};

/// N = part elements from an address that is a multiple of their bytes, at most of 16.
template <int N, class V> __device__ void take(const V* from, V (&to)[N]) {
  using load = gpu::elements<V, N>;
#pragma unroll
  for (int k = 0; k < N / load::count; ++k) {
    const load l = reinterpret_cast<const load*>(from)[k];
#pragma unroll
    for (int j = 0; j < load::count; ++j) to[k * load::count + j] = l.v[j];
  }
}
template <int N, class V> __device__ void put(const V (&from)[N], V* to) {
  using load = gpu::elements<V, N>;
#pragma unroll
  for (int k = 0; k < N / load::count; ++k) {
    load l;
#pragma unroll
    for (int j = 0; j < load::count; ++j) l.v[j] = from[k * load::count + j];
    reinterpret_cast<load*>(to)[k] = l;
  }
}

/// Factors of rows into shared memory, by all threads.
template <class V, int W> __device__ void load_factors(const square<W>& m, double sign, V* by) {
  const double* const from = &m[0][0];
  for (int e = threadIdx.x; e < W * W; e += pass_threads) by[e] = V(sign * from[e]);
}

/// Columns first.. of out += v M, for a whole row v in memory.
template <class V, int W, int P> __device__ void add_row(const V* v, const V* by, int first, V (&out)[P]) {
#pragma unroll
  for (int k = 0; k < W; k += P) {
    V some[P];
    take(v + k, some);
#pragma unroll
    for (int p = 0; p < P; ++p)
#pragma unroll
      for (int j = 0; j < P; ++j) out[j] += some[p] * by[(k + p) * W + first + j];
  }
}

/// sum += A'B over the first `rows` rows of two tiles, this thread's share of both.
template <class V, int W, int P> __device__ void add_gram(const V* a, const V* b, int rows, double (&sum)[P][P]) {
  using shape = pass_shape<W>;
  const int mine = int(threadIdx.x) % shape::of_matrix;
  const V* const of_a = a + mine / shape::across * P;
  const V* const of_b = b + mine % shape::across * P;
#pragma unroll 2
  for (int r = int(threadIdx.x) / shape::of_matrix; r < rows; r += shape::groups) {
    V x[P], y[P];
    take(of_a + r * W, x);
    take(of_b + r * W, y);
#pragma unroll
    for (int p = 0; p < P; ++p)
#pragma unroll
      for (int q = 0; q < P; ++q) sum[p][q] += double(x[p]) * double(y[q]);
  }
}

/// The same of two tiles of which each thread has its part. Every thread of the block must call.
template <class V, int W, int P>
__device__ void add_gram_of_tiles(const V (&a)[P], const V (&b)[P], pass_memory<V, W>& memory, double (&sum)[P][P]) {
  put(a, memory.first + threadIdx.x * P);
  put(b, memory.second + threadIdx.x * P);
  __syncthreads();
  add_gram<V, W>(memory.first, memory.second, pass_shape<W>::rows, sum);
  __syncthreads();
}

/// Sums of the block's threads, in partial[0 .. W^2). Every thread of the block must call.
template <int W, int P> __device__ void add_up_block(double (&sum)[P][P], double* sums, double* partial) {
  using shape = pass_shape<W>;
  const int lane = int(threadIdx.x) % gpu::warp;
  double* const mine = sums + int(threadIdx.x) / gpu::warp * shape::size;
  const int at = lane % shape::of_matrix / shape::across * P * W + lane % shape::of_matrix % shape::across * P;
  __syncthreads(); // the room was in use
#pragma unroll
  for (int p = 0; p < P; ++p)
#pragma unroll
    for (int q = 0; q < P; ++q) {
      double value = sum[p][q];
#pragma unroll
      for (int distance = gpu::warp / 2; distance >= shape::of_matrix; distance /= 2)
        value += gpu::from_lane_across<gpu::warp>(value, distance);
      if (lane < shape::of_matrix) mine[at + p * W + q] = value;
    }
  __syncthreads();
  for (int e = threadIdx.x; e < shape::size; e += pass_threads) {
    double total = 0;
#pragma unroll
    for (int w = 0; w < pass_warps; ++w) total += sums[w * shape::size + e];
    partial[e] = total;
  }
}

/// to = the sums of all blocks, in their order: as many threads as there are share an element. By a whole block.
template <int W> __device__ void add_up_all(const double* partial, double* room, square<W>& to) {
  constexpr int size = W * W, sets = size < pass_threads ? pass_threads / size : 1;
  const int e = int(threadIdx.x) % size, set = int(threadIdx.x) / size;
  double share = 0;
#pragma unroll 8
  for (unsigned b = unsigned(set); b < gridDim.x; b += sets) share += __ldcg(partial + index_t(b) * 2 * size + e);
  __syncthreads();
  room[threadIdx.x] = share;
  __syncthreads();
  if (set == 0) {
    double total = 0;
#pragma unroll 8
    for (int k = 0; k < sets; ++k) total += room[k * size + e];
    (&to[0][0])[e] = total;
  }
  __syncthreads();
}

/// Ends a pass with one Gram matrix or two. Every thread of the grid must call, once.
template <class Then, int W, int P>
__device__ void end_pass(double (&g)[P][P], double (*h)[P][P], end_memory<W>& memory, const pass_end<W>& to) {
  constexpr int size = W * W;
  double* const mine = to.partial + index_t(blockIdx.x) * 2 * size;
  add_up_block<W>(g, memory.sums, mine);
  if (h) add_up_block<W>(*h, memory.sums, mine + size);
  if (!gpu::comes_last(to.arrived)) return;
  add_up_all<W>(to.partial, memory.sets, to.state->g);
  if (h) add_up_all<W>(to.partial + size, memory.sets, to.state->h);
  if (threadIdx.x == 0) *to.arrived = 0;
  step_record<W>& record = to.records[static_cast<index_t>(to.state->slots[control::steps]) % to.kept];
  Then::run(block_team{int(threadIdx.x)}, *to.state, record, memory.room);
}

/// g = A'D B.
template <class Then, class V, int W>
__global__ void __launch_bounds__(pass_threads, 2)
    gram_kernel(index_t n, const V* a, const V* b, cview<V> diagonal, pass_end<W> to) {
  using shape = pass_shape<W>;
  constexpr int P = shape::part;
  __shared__ shared_memory<V, W> memory;
  gpu::take_turn();
  if (!Then::wanted(*to.state)) return;
  double g[P][P] = {};
  const int row = int(threadIdx.x) / shape::across, column = int(threadIdx.x) % shape::across * P;
  for (index_t first = index_t(blockIdx.x) * shape::rows; first < n; first += index_t(gridDim.x) * shape::rows) {
    const index_t i = first + row;
    V of_a[P] = {}, of_b[P] = {};
    if (i < n) {
      take(a + i * W + column, of_a);
      take(b + i * W + column, of_b);
      if (!diagonal.empty())
        for (V& v : of_b) v *= diagonal[i];
    }
    add_gram_of_tiles(of_a, of_b, memory.pass, g);
  }
  end_pass<Then>(g, static_cast<double(*)[P][P]>(nullptr), memory.end, to);
}

/// T = Q - P xi, X += S move, over Q and X; h = T'T, and g = T'D T, h where there is no D.
template <class Then, class V, int W>
__global__ void __launch_bounds__(pass_threads, 2)
    shrink_kernel(index_t n, V* q, const V* p, V* x, const V* s, cview<V> diagonal, pass_end<W> to) {
  using shape = pass_shape<W>;
  constexpr int P = shape::part;
  __shared__ shared_memory<V, W> memory;
  gpu::take_turn();
  if (!Then::wanted(*to.state)) return;
  load_factors<V, W>(to.state->xi, -1, memory.pass.by[0]);
  load_factors<V, W>(to.state->move, 1, memory.pass.by[1]);
  __syncthreads();
  double g[P][P] = {}, h[P][P] = {};
  const int row = int(threadIdx.x) / shape::across, column = int(threadIdx.x) % shape::across * P;
  for (index_t first = index_t(blockIdx.x) * shape::rows; first < n; first += index_t(gridDim.x) * shape::rows) {
    const index_t i = first + row;
    V t[P] = {}, m_t[P] = {};
    if (i < n) {
      V moved[P];
      take(q + i * W + column, t);
      take(x + i * W + column, moved);
      add_row<V, W>(p + i * W, memory.pass.by[0], column, t);
      add_row<V, W>(s + i * W, memory.pass.by[1], column, moved);
      put(t, q + i * W + column);
      put(moved, x + i * W + column);
      for (int j = 0; j < P && !diagonal.empty(); ++j) m_t[j] = diagonal[i] * t[j];
    }
    put(t, memory.pass.first + threadIdx.x * P);
    if (!diagonal.empty()) put(m_t, memory.pass.second + threadIdx.x * P);
    __syncthreads();
    add_gram<V, W>(memory.pass.first, memory.pass.first, shape::rows, h);
    if (!diagonal.empty()) add_gram<V, W>(memory.pass.first, memory.pass.second, shape::rows, g);
    __syncthreads();
  }
  if (diagonal.empty())
    for (int j = 0; j < P; ++j)
      for (int k = 0; k < P; ++k) g[j][k] = h[j][k];
  end_pass<Then>(g, &h, memory.end, to);
}

/// Columns of T inverse in place of T's; the threads of a row are neighbours, and read it before they write.
template <class V, int W, int P>
__device__ void turn_row(V* t, index_t i, bool in, int column, const V* by, V (&now)[P]) {
#pragma unroll
  for (V& v : now) v = 0;
  if (in) add_row<V, W>(t + i * W, by, column, now);
  __syncwarp();
  if (in) put(now, t + i * W + column);
}

/// T <- T inverse, and so Z = M T where that is stored; g = T'M T.
template <class Then, class V, int W>
__global__ void __launch_bounds__(pass_threads, 2)
    turn_again_kernel(index_t n, V* t, V* z, cview<V> diagonal, pass_end<W> to) {
  using shape = pass_shape<W>;
  constexpr int P = shape::part;
  __shared__ shared_memory<V, W> memory;
  gpu::take_turn();
  if (!Then::wanted(*to.state)) return;
  load_factors<V, W>(to.state->inverse, 1, memory.pass.by[0]);
  __syncthreads();
  double g[P][P] = {};
  const int row = int(threadIdx.x) / shape::across, column = int(threadIdx.x) % shape::across * P;
  for (index_t first = index_t(blockIdx.x) * shape::rows; first < n; first += index_t(gridDim.x) * shape::rows) {
    const index_t i = first + row;
    V of_t[P], of_z[P];
    turn_row<V, W>(t, i, i < n, column, memory.pass.by[0], of_t);
    if (z) turn_row<V, W>(z, i, i < n, column, memory.pass.by[0], of_z);
    else
      for (int j = 0; j < P; ++j) of_z[j] = !diagonal.empty() && i < n ? diagonal[i] * of_t[j] : of_t[j];
    add_gram_of_tiles(of_t, of_z, memory.pass, g);
  }
  end_pass<Then>(g, static_cast<double(*)[P][P]>(nullptr), memory.end, to);
}

/// T <- T inverse, and so Z = M T where that is stored; S becomes M T + S beta.
template <class V, int W>
__global__ void __launch_bounds__(pass_threads, 2)
    turn_kernel(index_t n, V* t, V* z, V* s, cview<V> diagonal, const block_state<W>* state) {
  using shape = pass_shape<W>;
  constexpr int P = shape::part;
  __shared__ V by[2][W * W];
  gpu::take_turn();
  if (state->why != control::running) return;
  load_factors<V, W>(state->inverse, 1, by[0]);
  load_factors<V, W>(state->beta, 1, by[1]);
  __syncthreads();
  const int row = int(threadIdx.x) / shape::across, column = int(threadIdx.x) % shape::across * P;
  for (index_t first = index_t(blockIdx.x) * shape::rows; first < n; first += index_t(gridDim.x) * shape::rows) {
    const index_t i = first + row;
    const bool in = i < n;
    V now[P];
    turn_row<V, W>(t, i, in, column, by[0], now);
    if (z) turn_row<V, W>(z, i, in, column, by[0], now);
    else if (in && !diagonal.empty())
      for (V& v : now) v *= diagonal[i];
    if (in) add_row<V, W>(s + i * W, by[1], column, now);
    __syncwarp();
    if (in) put(now, s + i * W + column);
  }
}

/// See passes.hpp: the same on a GPU, where the state lies beside the vectors.
template <class V, int W> class gpu_passes {
public:
  static constexpr bool on_gpu = true;
  explicit gpu_passes(index_t n) : n_(n), state_(1), records_(kept()), partial_(index_t(most_blocks()) * 2 * W * W) {}

  const block_state<W>* state() const { return state_.data(); }
  void send(const block_state<W>& s) { copy_bytes(gpu_memory{}, state_.data(), host_memory{}, &s, sizeof s); }
  const block_state<W>& look() {
    copy_bytes(host_memory{}, &home_, gpu_memory{}, state_.data(), sizeof home_);
    return home_;
  }
  static constexpr index_t kept() { return 64; }
  const step_record<W>* look_at_records() {
    if (home_records_.empty()) home_records_ = host_array<step_record<W>>(kept());
    copy_bytes(host_memory{}, home_records_.data(), gpu_memory{}, records_.data(), records_.byte_count());
    return home_records_.data();
  }

  template <class Then> void gram(const V* a, const V* b, cview<V> diagonal = {}) {
    start(gram_kernel<Then, V, W>, n_, a, b, diagonal, end());
  }
  template <class Then> void shrink(V* q, const V* p, V* x, const V* s, const preconditioned<V>& m) {
    start(shrink_kernel<Then, V, W>, n_, q, p, x, s, m.diagonal, end());
  }
  template <class Then> void turn_again(V* t, const preconditioned<V>& m) {
    start(turn_again_kernel<Then, V, W>, n_, t, m.stored, m.diagonal, end());
  }
  void turn(V* t, V* s, const preconditioned<V>& m) {
    start(turn_kernel<V, W>, n_, t, m.stored, s, m.diagonal, state());
  }

private:
  /// Two a multiprocessor; one where there are few tiles, whose sums are sooner together then.
  unsigned blocks() const {
    const index_t tiles = (n_ + pass_shape<W>::rows - 1) / pass_shape<W>::rows,
                  each = gpu::current_queue().multiprocessors;
    const index_t most = tiles > 8 * each ? 2 * each : each;
    return static_cast<unsigned>(tiles < 1 ? 1 : tiles < most ? tiles : most);
  }
  static int most_blocks() { return 2 * gpu::current_queue().multiprocessors; }
  pass_end<W> end() { return {state_.data(), records_.data(), kept(), partial_.data(), gpu::current_queue().arrived}; }
  template <class... P, class... A> void start(void (*kernel)(P...), const A&... arguments) {
    gpu::launch(kernel, blocks(), pass_threads, 0, gpu::current_queue(), arguments...);
  }

  index_t n_;
  gpu_array<block_state<W>> state_;
  gpu_array<step_record<W>> records_;
  gpu_array<double> partial_;
  block_state<W> home_{};
  host_array<step_record<W>> home_records_;
};

} // namespace furrow::block_cg
