// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pieces.hpp"

#include "backends/gpu/block_rows.hpp"

#include <furrow/csr.hpp>

/// Products with several vectors where some rows are so long that one group of threads would be waited for.
namespace furrow {

/// The rows without those of more than gpu::longest_walk entries, which have none here.
template <class V, class I> struct csr_short_rows {
  shape2 shape;
  csr<V, I, cview> all;
};

namespace gpu {

inline constexpr index_t longest_walk = 1024;
inline constexpr index_t long_row_part = 2048; ///< entries of a block
inline constexpr int most_vectors = 16;

} // namespace gpu

template <class V, class I> csr_short_rows<V, I> short_rows(const csr<V, I, cview>& a) { return {a.shape, a}; }

template <class V, class I, class F>
FURROW_HD void each_entry(lanes lane, const csr_short_rows<V, I>& a, index_t row, F f) {
  if (a.all.row_ptr[row + 1] - a.all.row_ptr[row] <= gpu::longest_walk) each_entry(lane, a.all, row, f);
}

namespace gpu {

/// The rows of Y <- A X that `parts` are parts of, a part a block. 2^shift threads beside each other take the row of X
/// that an entry meets, P elements each; the groups' sums are added by halves, and those of a row's parts in their
/// order by the block that comes last.
template <int P, class V, class I>
__global__ void __launch_bounds__(several_threads)
    long_rows_kernel(csr<V, I, cview> a, cview<piece> parts, int shift, bool aligned, cview<V> x, view<V> y,
                     view<V> sums, view<unsigned> arrived) {
  __shared__ V room[several_threads * P];
  __shared__ bool last;
  take_turn();
  const piece p = parts[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), first = P * (thread & ((1 << shift) - 1)), group = thread >> shift,
            groups = several_threads >> shift, vectors = P << shift;
  V sum[P] = {};
  for (index_t k = p.begin + group; k < p.begin + p.count; k += groups) {
    V of_x[P];
    load_elements(x.data + (index_t(a.col[k]) << shift) * P + first, aligned, of_x);
    const V value = a.val[k];
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += value * of_x[q];
  }
#pragma unroll
  for (int q = 0; q < P; ++q) room[thread * P + q] = sum[q];
  for (int half = groups / 2; half > 0; half /= 2) {
    __syncthreads();
    if (group < half)
#pragma unroll
      for (int q = 0; q < P; ++q) room[thread * P + q] += room[(thread + (half << shift)) * P + q];
  }
  __syncthreads();
  V* const to = y.data + index_t(p.row) * vectors;
  if (p.parts == 1) {
    if (thread < vectors) to[thread] = room[thread];
    return;
  }
  if (thread < vectors) sums[index_t(p.slot) * most_vectors + thread] = room[thread];
  __threadfence();
  __syncthreads();
  if (thread == 0) last = atomicAdd(arrived.data + p.first, 1u) == static_cast<unsigned>(p.parts - 1);
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (thread < vectors) {
    V total{};
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
    launch(long_rows_kernel<P, V, I>, static_cast<unsigned>(parts.size), several_threads, 0, current_queue(), a, parts,
           shift, are_aligned<P>(x), x, y, sums, arrived);
  });
}

} // namespace gpu
} // namespace furrow
