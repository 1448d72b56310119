// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "reduce.hpp"

#include <furrow/space.hpp>

/// Products with the vectors of a basis on the GPU. A block takes a tile of rows, whose part of V it reads a second
/// time from the caches. A thread keeps the sums of the first vectors in registers to the end; those of further ones
/// are added up tile by tile, in a row of sums a warp in shared memory, so that there may be any number of them.
namespace furrow::gpu {

inline constexpr int basis_threads = 256, basis_rows = 2; ///< of a block; of a thread
inline constexpr int basis_tile = basis_threads * basis_rows;
inline constexpr int basis_warps = basis_threads / warp;
inline constexpr int basis_blocks = 2; ///< a multiprocessor: their tiles of 30 vectors fit the second cache
inline constexpr int basis_held = 32;  ///< sums in registers: those of GMRES(30), and two warps a scheduler still fit
inline constexpr int basis_group = 8;  ///< vectors whose reads a thread has under way at once
inline constexpr index_t most_basis = 767; ///< vectors, whose sums fit 48 KB

/// Where a projection leaves its sums, and the scratch that they go through: `partial` holds a sum a block, by sums.
struct projection_target {
  double *g, *squares, *partial;
  unsigned* arrived;
};

/// Ends a projection: adds the warps' rows of sums, then those of all blocks, in the order of warps and blocks.
static __device__ void finish_projection(const double* rows, int length, int sums, const projection_target& to) {
  __syncthreads();
  for (int k = threadIdx.x; k < sums; k += basis_threads) {
    double total = 0;
    for (int w = 0; w < basis_warps; ++w) total += rows[w * length + k];
    to.partial[index_t(k) * gridDim.x + blockIdx.x] = total;
  }
  if (!comes_last(to.arrived)) return;
  const int lane = int(threadIdx.x) % warp;
  for (int k = int(threadIdx.x) / warp; k < sums; k += basis_warps) {
    double share = 0;
    for (unsigned b = unsigned(lane); b < gridDim.x; b += warp)
      share += __ldcg(to.partial + index_t(k) * gridDim.x + b);
    share = sum_lanes<warp>(share);
    if (lane == 0) (k < sums - 1 ? to.g[k] : *to.squares) = share;
  }
  if (threadIdx.x == 0) *to.arrived = 0;
}

/// Rows of a tile that are a thread's.
template <class V> struct basis_part {
  index_t at[basis_rows];
  bool in[basis_rows];
  V x[basis_rows];

  /// What the vector at `v` holds there.
  template <class E> __device__ V read(const E* v, int r) const { return in[r] ? V(v[at[r]]) : V(0); }

  /// sums[k] += v_k'x for `count` vectors from `v` on, of the next basis_group ones.
  template <class E> __device__ void add_dots(const E* v, index_t stride, int count, double* sums) const {
    V values[basis_group][basis_rows];
#pragma unroll
    for (int k = 0; k < basis_group; ++k)
#pragma unroll
      for (int r = 0; r < basis_rows; ++r) values[k][r] = k < count ? read(v + k * stride, r) : V(0);
#pragma unroll
    for (int k = 0; k < basis_group; ++k)
#pragma unroll
      for (int r = 0; r < basis_rows; ++r) sums[k] += double(values[k][r]) * double(x[r]);
  }
};

/// g = V' w; where w may be written, w -= V h first.
template <class V, class E, class W>
__global__ void __launch_bounds__(basis_threads, basis_blocks)
    project_kernel(basis<E> all, const double* count, const double* h, W* w, int length, projection_target to) {
  take_turn();
  extern __shared__ double rows[];
  const int columns = int(*count), lane = int(threadIdx.x) % warp;
  double* const mine = rows + int(threadIdx.x) / warp * length;
  for (int k = lane; k <= columns; k += warp) mine[k] = 0;
  __syncwarp();
  double held[basis_held] = {}, squares = 0;
  const index_t step = index_t(gridDim.x) * basis_tile;
  for (index_t first = index_t(blockIdx.x) * basis_tile; first < all.n; first += step) {
    basis_part<V> part;
#pragma unroll
    for (int r = 0; r < basis_rows; ++r) {
      part.at[r] = first + r * basis_threads + threadIdx.x;
      part.in[r] = part.at[r] < all.n;
      part.x[r] = part.in[r] ? w[part.at[r]] : V(0);
    }
    if constexpr (!std::is_const_v<W>) {
      V along[basis_rows] = {};
#pragma unroll 8
      for (int k = 0; k < columns; ++k) {
        const V c = V(h[k]);
#pragma unroll
        for (int r = 0; r < basis_rows; ++r) along[r] += c * part.read(all.data + k * all.stride, r);
      }
#pragma unroll
      for (int r = 0; r < basis_rows; ++r) {
        part.x[r] -= along[r];
        if (part.in[r]) w[part.at[r]] = part.x[r];
      }
    }
#pragma unroll
    for (int r = 0; r < basis_rows; ++r) squares += double(part.x[r]) * double(part.x[r]);
#pragma unroll
    for (int k = 0; k < basis_held; k += basis_group)
      if (k < columns) part.add_dots(all.data + k * all.stride, all.stride, columns - k, held + k);
    for (int k = basis_held; k < columns; k += basis_group) {
      double sums[basis_group] = {};
      part.add_dots(all.data + k * all.stride, all.stride, columns - k, sums);
#pragma unroll
      for (int j = 0; j < basis_group; ++j) {
        const double sum = sum_lanes<warp>(sums[j]);
        if (lane == 0 && k + j < columns) mine[k + j] += sum;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < basis_held; ++k) {
    if (k >= columns) continue;
    const double sum = sum_lanes<warp>(held[k]);
    if (lane == 0) mine[k] = sum;
  }
  squares = sum_lanes<warp>(squares);
  if (lane == 0) mine[columns] = squares;
  finish_projection(rows, length, columns + 1, to);
}

/// A sweep whose step is given (V h)_i.
template <class V, class E, class Step, int N>
__global__ void __launch_bounds__(basis_threads)
    combine_kernel(basis<E> all, const double* count, const double* h, Step step, sum_target<N> to) {
  take_turn();
  step.load();
  double mine[N ? N : 1] = {};
  const sums<N> sum{mine, 1};
  const int columns = int(*count);
  const index_t stride = index_t(gridDim.x) * basis_threads;
  for (index_t i = index_t(blockIdx.x) * basis_threads + threadIdx.x; i < all.n; i += stride) {
    auto values = step.at(i);
    V along = 0;
#pragma unroll 8
    for (int k = 0; k < columns; ++k) along += V(h[k]) * V(all.data[k * all.stride + i]);
    Step::give(values, along);
    step(i, values, sum);
  }
  finish<basis_threads, N>(mine, to);
}

} // namespace furrow::gpu
