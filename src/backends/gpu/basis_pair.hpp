// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "basis.hpp"

/// Products of a basis with two vectors at once. The vectors of the basis are shared out among the warps of a block, so
/// that a thread keeps the sums of a few of them in registers from the first row to the last; a group of warps has all
/// vectors, and takes rows of its own.
namespace furrow::gpu {

inline constexpr int pair_threads = 512, pair_warps = pair_threads / warp; ///< a block, which fills a multiprocessor
inline constexpr int pair_group = 4; ///< vectors of a warp: their eight sums take 16 registers
inline constexpr int pair_round =
    pair_warps * pair_group;          ///< vectors of a block; of more it takes these, then the next
inline constexpr int pair_beside = 3; ///< u'u, u'w and w'w
inline constexpr int pair_lanes = 8;  ///< that add up a sum over the blocks
/// Rows whose reads a thread has under way at once: 128 bytes of a group, whatever it is kept in.
template <class E> inline constexpr int pair_rows = 32 / int(sizeof(E));
/// The same of `combine_two`: a tile is short, so that blocks end together.
inline constexpr int combine_two_rows = 2, combine_two_tile = basis_threads * combine_two_rows;
template <class E> inline constexpr int combine_two_group = 64 / int(sizeof(E));
inline constexpr int combine_two_most = 16;  ///< the largest of these groups
inline constexpr int combine_two_blocks = 3; ///< a multiprocessor, which they fill

/// Rows of a thread, `warp` apart. Those beyond the end are the last one again, times 0.
template <class V, class E> struct pair_part {
  static constexpr int rows = pair_rows<E>;
  index_t at[rows];
  double u[rows], w[rows];

  __device__ pair_part(index_t first, index_t n, const V* from_u, const V* from_w) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const index_t i = first + r * warp;
      at[r] = i < n ? i : n - 1;
      u[r] = i < n ? double(from_u[i]) : 0;
      w[r] = i < n ? double(from_w[i]) : 0;
    }
  }

  /// sums[k] += v_k'u, v_k'w for `count` vectors from `v` on.
  __device__ void add_dots(const E* v, index_t stride, int count, double (&sums)[2 * pair_group]) const {
    E values[pair_group][rows];
#pragma unroll
    for (int k = 0; k < pair_group; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) values[k][r] = k < count ? v[k * stride + at[r]] : E(0);
#pragma unroll
    for (int k = 0; k < pair_group; ++k)
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        sums[2 * k] += double(values[k][r]) * u[r];
        sums[2 * k + 1] += double(values[k][r]) * w[r];
      }
  }
  __device__ void add_beside(double (&sums)[pair_beside]) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      sums[0] += u[r] * u[r];
      sums[1] += u[r] * w[r];
      sums[2] += w[r] * w[r];
    }
  }
};

/// values[k] of a warp becomes the sum over its lanes of values[k]: the one of k = lane / (warp / N), with the same
/// bits in the lanes that have it. A lane hands on half of what it still has, so that N + 1 exchanges do for N = 8.
template <int N> static __device__ double sum_transposed(double (&values)[N]) {
  const int lane = int(threadIdx.x) % warp;
  int distance = warp / 2;
#pragma unroll
  for (int kept = N / 2; kept > 0; kept /= 2, distance /= 2) {
    const bool upper = lane & distance;
#pragma unroll
    for (int k = 0; k < kept; ++k) {
      const double given = upper ? values[k] : values[k + kept];
      values[k] = (upper ? values[k + kept] : values[k]) + from_lane_across<warp>(given, distance);
    }
  }
  for (; distance > 0; distance /= 2) values[0] += from_lane_across<warp>(values[0], distance);
  return values[0];
}

/// How the warps of a block share `vectors` out: group g has those from begin(g) on.
struct pair_shares {
  int vectors, groups, slices;

  __device__ explicit pair_shares(int vectors)
      : vectors(vectors), groups(vectors > pair_group ? (vectors + pair_group - 1) / pair_group : 1),
        slices(pair_warps / groups) {}
  __device__ int begin(int g) const { return g * vectors / groups; }
  __device__ int group_of(int k) const { return ((k + 1) * groups - 1) / vectors; }
};

/// Adds what the blocks left in `partial`, a row of them a sum, in the order of lanes and blocks; g[0] says how many
/// sums follow the first one.
static __device__ void finish_pair(double* g, const double* partial, unsigned* arrived, int sums) {
  constexpr unsigned batch = 9; // reads under way at once: 144 blocks are two of them
  const int lane = int(threadIdx.x) % pair_lanes;
  for (int k = int(threadIdx.x) / pair_lanes; k - int(threadIdx.x) / pair_lanes < sums;
       k += pair_threads / pair_lanes) {
    const double* const from = partial + index_t(k) * gridDim.x;
    double share = 0;
    for (unsigned b = unsigned(lane); k < sums && b < gridDim.x; b += batch * pair_lanes) {
      double values[batch];
#pragma unroll
      for (unsigned i = 0; i < batch; ++i)
        values[i] = b + i * pair_lanes < gridDim.x ? __ldcg(from + b + i * pair_lanes) : 0;
#pragma unroll
      for (unsigned i = 0; i < batch; ++i) share += values[i];
    }
    share = sum_lanes<pair_lanes>(share);
    if (lane == 0 && k < sums) g[1 + k] = share;
  }
  if (threadIdx.x == 0) {
    g[0] = sums - 1;
    *arrived = 0;
  }
}

/// g = 2 k + 2; u'u; u'w; w'w; v_i'u and v_i'w side by side. From the last row to the first: what the pass before left
/// in the second cache comes first.
template <class V, class E>
__global__ void __launch_bounds__(pair_threads, 1)
    project_two_kernel(basis<E> all, const double* count, const V* u, const V* w, double* g, double* partial,
                       unsigned* arrived) {
  take_turn();
  __shared__ double of_warp[pair_warps][2 * pair_group + pair_beside];
  const int columns = int(*count), lane = int(threadIdx.x) % warp, number = int(threadIdx.x) / warp;
  constexpr int chunk = warp * pair_rows<E>;
  const index_t chunks = (all.n + chunk - 1) / chunk;
  for (int base = 0; base == 0 || base < columns; base += pair_round) {
    const pair_shares shares(columns - base < pair_round ? columns - base : pair_round);
    const int group = number % shares.groups, slice = number / shares.groups;
    const int begin = shares.begin(group), mine = shares.begin(group + 1) - begin;
    const bool beside = base == 0 && group == 0;
    const E* const v = all.data + (base + begin) * all.stride;
    double held[2 * pair_group] = {}, own[pair_beside] = {};
    if (slice < shares.slices)
      for (index_t c = index_t(blockIdx.x) * shares.slices + slice; c < chunks;
           c += index_t(gridDim.x) * shares.slices) {
        const pair_part<V, E> part((chunks - 1 - c) * chunk + lane, all.n, u, w);
        part.add_dots(v, all.stride, mine, held);
        if (beside) part.add_beside(own);
      }
    double* const to = of_warp[number];
    const double sum = sum_transposed(held);
    if (lane % (warp / (2 * pair_group)) == 0) to[lane / (warp / (2 * pair_group))] = sum;
    if (beside)
      for (int k = 0; k < pair_beside; ++k) {
        const double of_rows = sum_lanes<warp>(own[k]);
        if (lane == 0) to[2 * pair_group + k] = of_rows;
      }
    __syncthreads();
    const auto over_slices = [&](int of, int k) {
      double total = 0;
      for (int s = 0; s < shares.slices; ++s) total += of_warp[s * shares.groups + of][k];
      return total;
    };
    for (int k = int(threadIdx.x); k < 2 * shares.vectors; k += pair_threads) {
      const int of = shares.group_of(k / 2);
      partial[index_t(pair_beside + 2 * base + k) * gridDim.x + blockIdx.x] = over_slices(of, k - 2 * shares.begin(of));
    }
    if (base == 0 && threadIdx.x < pair_beside)
      partial[index_t(threadIdx.x) * gridDim.x + blockIdx.x] = over_slices(0, 2 * pair_group + int(threadIdx.x));
    __syncthreads();
  }
  if (comes_last(arrived)) finish_pair(g, partial, arrived, 2 * columns + pair_beside);
}

/// A sweep whose step is given (V a)_i and (V b)_i, for coefficients a and b that lie side by side in h, and a'a, a'b
/// and b'b beforehand.
template <class V, class E, class Step, int N>
__global__ void __launch_bounds__(basis_threads, combine_two_blocks)
    combine_two_kernel(basis<E> all, const double* count, const double* h, Step step, sum_target<N> to) {
  take_turn();
  extern __shared__ double staged[];
  __shared__ pair_products products;
  V* const c = reinterpret_cast<V*>(staged);
  const int columns = int(*count);
  constexpr int group = combine_two_group<E>, rows = combine_two_rows;
  for (int k = int(threadIdx.x); k < 2 * (columns + group); k += basis_threads) c[k] = k < 2 * columns ? V(h[k]) : V(0);
  if (threadIdx.x < warp) {
    pair_products mine;
    for (int k = int(threadIdx.x); k < columns; k += warp) mine.add(h[2 * k], h[2 * k + 1]);
    mine = {sum_lanes<warp>(mine.aa), sum_lanes<warp>(mine.ab), sum_lanes<warp>(mine.bb)};
    if (threadIdx.x == 0) products = mine;
  }
  __syncthreads();
  step.load(products);
  if (blockIdx.x == 0 && threadIdx.x == 0) step.tell();
  double mine[N ? N : 1] = {};
  const sums<N> sum{mine, 1};
  for (index_t first = index_t(blockIdx.x) * combine_two_tile; first < all.n;
       first += index_t(gridDim.x) * combine_two_tile) {
    decltype(step.at(first)) values[rows];
    V along[rows][2] = {};
    index_t at[rows];
    bool in[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      at[r] = first + r * basis_threads + threadIdx.x;
      in[r] = at[r] < all.n;
      if (in[r]) values[r] = step.at(at[r]);
    }
    for (int k = 0; k < columns; k += group) {
      E v[group][rows];
#pragma unroll
      for (int g = 0; g < group; ++g)
#pragma unroll
        for (int r = 0; r < rows; ++r)
          v[g][r] = k + g < columns && in[r] ? all.data[(k + g) * all.stride + at[r]] : E(0);
#pragma unroll
      for (int g = 0; g < group; ++g) {
        const V a = c[2 * (k + g)], b = c[2 * (k + g) + 1];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          along[r][0] += a * V(v[g][r]);
          along[r][1] += b * V(v[g][r]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (!in[r]) continue;
      Step::give(values[r], along[r][0], along[r][1]);
      step(at[r], values[r], sum);
    }
  }
  finish<basis_threads, N>(mine, to);
}

} // namespace furrow::gpu
