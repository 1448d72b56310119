// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pieces.hpp"

#include "backends/gpu/block_rows.hpp"

#include <furrow/csr.hpp>

/// Products with several vectors where some rows are so long that the few threads which walk along one would be waited
/// for: entries are shared out among the threads of a block, whatever rows they are of.
namespace furrow::gpu {

/// Rows of more entries are not walked, nor those of more than four times the mean.
inline constexpr index_t longest_walk = 32;

struct several_shape {
  static constexpr int threads = 128;
  static constexpr int entries = 128, rows = 128; ///< of a block, at most; longer rows are parts of so many entries
  static constexpr int each = 2;                  ///< vectors of a thread: of 8 in f64 four threads read a line of X
  static constexpr int at_once = 4;               ///< entries that a thread has under way
  static constexpr int vectors = 16;              ///< at most
  static constexpr int residents = 12;            ///< blocks that a multiprocessor should have room for
  static constexpr piece_sizes sizes{entries, rows, entries};
};

/// What several_kernel adds up of one row in several blocks: 16 vectors' sums a slot, and a counter that is 0 between
/// kernels.
template <class V> struct several_parts {
  view<V> sums;
  view<unsigned> arrived;
};

/// put(k, product) for the entries k of [0, count), those of one thread, with X's elements from `x` on.
template <class V, class Put>
__device__ void multiply_entries(const V* val, const std::int32_t* col, int count, int rank, int step, const V* x,
                                 int vectors, bool aligned, Put put) {
  constexpr int P = several_shape::each, U = several_shape::at_once;
  for (int k = rank; k < count; k += U * step) {
    std::int32_t at[U];
    V value[U], of_x[U][P];
#pragma unroll
    for (int u = 0; u < U; ++u) { // one that there is in place of those behind the end
      const int entry = k + u * step < count ? k + u * step : k;
      at[u] = col[entry];
      value[u] = val[entry];
    }
#pragma unroll
    for (int u = 0; u < U; ++u) load_elements(x + index_t(at[u]) * vectors, aligned, of_x[u]);
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (k + u * step < count) {
        V product[P];
#pragma unroll
        for (int q = 0; q < P; ++q) product[q] = value[u] * of_x[u][q];
        put(k + u * step, product);
      }
  }
}

/// The sums of the products of one row, and those of its other parts where there are some: a warp's by shuffles, the
/// block's in the order of the warps, the row's in that of the parts, by the block that comes last.
template <class V>
__device__ void end_part(const piece& p, V (&sum)[several_shape::each], int shift, view<V> y,
                         const several_parts<V>& shared, V* of_warp) {
  constexpr int P = several_shape::each, warps = several_shape::threads / warp;
  __shared__ bool last;
  const int thread = static_cast<int>(threadIdx.x), vectors = P << shift;
  for (int distance = warp / 2; distance >> shift > 0; distance /= 2)
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += from_lane_across<warp>(sum[q], distance);
  if (thread % warp < 1 << shift)
#pragma unroll
    for (int q = 0; q < P; ++q) of_warp[thread / warp * vectors + P * (thread % warp) + q] = sum[q];
  __syncthreads();
  V total{};
  if (thread < vectors)
    for (int w = 0; w < warps; ++w) total += of_warp[w * vectors + thread];
  V* const to = y.data + index_t(p.row) * vectors;
  if (p.parts == 1) {
    if (thread < vectors) to[thread] = total;
    return;
  }
  if (thread < vectors) shared.sums[index_t(p.slot) * several_shape::vectors + thread] = total;
  __syncthreads();
  if (thread == 0) last = arrives_last(shared.arrived.data + p.first, static_cast<unsigned>(p.parts));
  __syncthreads();
  if (!last) return;
  if (thread < vectors) {
    total = V(0);
    for (int k = 0; k < p.parts; ++k)
      total += __ldcg(shared.sums.data + index_t(p.first + k) * several_shape::vectors + thread);
    to[thread] = total;
  }
  if (thread == 0) shared.arrived[p.first] = 0;
}

/// Y <- A X for 2^(shift + 1) vectors; a piece a block. Its products go to shared memory, entry by entry, so that all
/// threads have as many reads of X under way, whatever the rows are, and where the rows end comes there meanwhile; then
/// 2^shift threads a row add them up. X is read in whole lines, and A once.
template <class V, class I>
__global__ void __launch_bounds__(several_shape::threads, several_shape::residents)
    several_kernel(csr<V, I, cview> a, cview<piece> pieces, int shift, bool aligned, cview<V> x, view<V> y,
                   several_parts<V> shared) {
  using shape = several_shape;
  constexpr int P = shape::each;
  extern __shared__ __align__(16) unsigned char several_memory[];
  __shared__ int ends[shape::rows + 1];
  auto* const products = reinterpret_cast<elements<V, P>*>(several_memory);
  take_turn();
  const piece p = pieces[blockIdx.x];
  const int vectors = P << shift, own = static_cast<int>(threadIdx.x) & ((1 << shift) - 1),
            rank = static_cast<int>(threadIdx.x) >> shift, step = shape::threads >> shift;
  const V* const from = x.data + P * own;
  const auto walk = [&](auto put) {
    multiply_entries(a.val.data + p.begin, a.col.data + p.begin, p.count, rank, step, from, vectors, aligned, put);
  };
  if (p.parts > 0) {
    V sum[P] = {};
    walk([&](int, const V(&product)[P]) {
#pragma unroll
      for (int q = 0; q < P; ++q) sum[q] += product[q];
    });
    return end_part(p, sum, shift, y, shared, reinterpret_cast<V*>(several_memory));
  }
  for (int r = static_cast<int>(threadIdx.x); r <= p.rows; r += shape::threads)
    ends[r] = static_cast<int>(a.row_ptr[index_t(p.row) + r] - p.begin);
  walk([&](int k, const V(&product)[P]) {
    elements<V, P> one;
#pragma unroll
    for (int q = 0; q < P; ++q) one.v[q] = product[q];
    products[(k << shift) + own] = one;
  });
  __syncthreads();
  for (int r = rank; r < p.rows; r += step) {
    elements<V, P> sum{};
    const int end = ends[r + 1];
#pragma unroll 4
    for (int k = ends[r]; k < end; ++k)
#pragma unroll
      for (int q = 0; q < P; ++q) sum.v[q] += products[(k << shift) + own].v[q];
    V* const to = y.data + (index_t(p.row) + r) * vectors + P * own;
    if (aligned) *reinterpret_cast<elements<V, P>*>(to) = sum;
    else
      for (int q = 0; q < P; ++q) to[q] = sum.v[q];
  }
}

/// Y <- A X for 2, 4, 8 or 16 vectors.
template <class V, class I>
void multiply_pieces(const csr<V, I, cview>& a, cview<piece> pieces, const several_parts<V>& shared, cview<V> x,
                     view<V> y, index_t count) {
  using shape = several_shape;
  if (y.empty()) return;
  int shift = 0;
  while (index_t(shape::each) << shift < count) ++shift;
  launch(several_kernel<V, I>, static_cast<unsigned>(pieces.size), shape::threads,
         shape::entries * static_cast<int>(count) * static_cast<int>(sizeof(V)), current_queue(), a, pieces, shift,
         are_aligned<shape::each>(x) && are_aligned<shape::each>(cview<V>(y)), x, y, shared);
}

} // namespace furrow::gpu
