// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pieces.hpp"

#include "backends/gpu/block_rows.hpp"

#include <furrow/csr.hpp>

/// Products with several vectors where some rows are so long that one group of threads would be waited for.
namespace furrow {

/// The rows without those of more than `longest` entries, which have none here.
template <class V, class I> struct csr_short_rows {
  static constexpr bool has_runs = true;
  shape2 shape;
  csr<V, I, cview> all;
  index_t longest;
};

namespace gpu {

inline constexpr index_t longest_walk = 32;    ///< at least: rows of four times the mean are walked as others are
inline constexpr index_t long_row_part = 1024; ///< entries of a block
inline constexpr int long_row_threads = 128, most_vectors = 16;

} // namespace gpu

template <class V, class I> csr_short_rows<V, I> short_rows(const csr<V, I, cview>& a, index_t longest) {
  return {a.shape, a, longest};
}

template <class V, class I, class F>
FURROW_HD void each_entry(lanes lane, const csr_short_rows<V, I>& a, index_t row, F f) {
  if (a.all.row_ptr[row + 1] - a.all.row_ptr[row] <= a.longest) each_entry(lane, a.all, row, f);
}

namespace gpu {

/// The rows of Y <- A X that `parts` are parts of, a part a block. 2^shift threads beside each other take the row of X
/// that an entry meets, P elements each. Sums are added across the warps, then those of the warps in their order, then
/// those of a row's parts in theirs, by the block that comes last.
template <int P, class V, class I>
__global__ void __launch_bounds__(long_row_threads)
    long_rows_kernel(csr<V, I, cview> a, cview<piece> parts, int shift, bool aligned, cview<V> x, view<V> y,
                     view<V> sums, view<unsigned> arrived) {
  __shared__ V of_warp[long_row_threads / warp][most_vectors];
  __shared__ bool last;
  take_turn();
  const piece p = parts[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), first = P * (thread & ((1 << shift) - 1)), vectors = P << shift;
  V sum[P] = {};
  FURROW_UNROLL_BY(4)
  for (index_t k = p.begin + (thread >> shift); k < p.begin + p.count; k += long_row_threads >> shift) {
    V of_x[P];
    load_elements(x.data + (index_t(a.col[k]) << shift) * P + first, aligned, of_x);
    const V value = a.val[k];
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += value * of_x[q];
  }
  for (int distance = warp >> 1; distance >> shift > 0; distance /= 2)
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += from_lane_across<warp>(sum[q], distance);
  if (thread % warp < 1 << shift)
#pragma unroll
    for (int q = 0; q < P; ++q) of_warp[thread / warp][first + q] = sum[q];
  __syncthreads();
  V total{};
  if (thread < vectors)
    for (int w = 0; w < long_row_threads / warp; ++w) total += of_warp[w][thread];
  V* const to = y.data + index_t(p.row) * vectors;
  if (p.parts == 1) {
    if (thread < vectors) to[thread] = total;
    return;
  }
  if (thread < vectors) sums[index_t(p.slot) * most_vectors + thread] = total;
  __threadfence();
  __syncthreads();
  if (thread == 0) last = atomicAdd(arrived.data + p.first, 1u) == static_cast<unsigned>(p.parts - 1);
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (thread < vectors) {
    total = V(0);
    for (int k = 0; k < p.parts; ++k) total += __ldcg(sums.data + index_t(p.first + k) * most_vectors + thread);
    to[thread] = total;
  }
  if (thread == 0) arrived[p.first] = 0;
}

/// The same for 2, 4, 8 or 16 vectors. `arrived` has a 0 a slot between kernels.
template <class V, class I>
void multiply_long_rows(const csr<V, I, cview>& a, cview<piece> parts, view<V> sums, view<unsigned> arrived, cview<V> x,
                        view<V> y, index_t count) {
  if (parts.empty()) return;
  share_vectors(count, [&]<int P>(std::integral_constant<int, P>, int shift) {
    launch(long_rows_kernel<P, V, I>, static_cast<unsigned>(parts.size), long_row_threads, 0, current_queue(), a, parts,
           shift, are_aligned<P>(x), x, y, sums, arrived);
  });
}

} // namespace gpu
} // namespace furrow
