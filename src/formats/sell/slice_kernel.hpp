// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sell.hpp"
#include "sharing.hpp"

#include "backends/gpu/end_near.hpp"
#include "backends/gpu/launch.hpp"
#include "backends/gpu/operator.hpp"

namespace furrow::gpu {

/// y <- alpha A x + beta y for a sliced matrix, and what `ending` asks for. `share(lanes,
/// position)` is one lane's share of the row at a position.
///
/// Split: `sharing` threads a row, whose shares are added in order through shared memory. Neighbouring threads always
/// have neighbouring rows, so that a warp reads whole lines whatever the number; all threads of a block leave the
/// loop together.
template <bool Split, class A, class V, class Share, int N>
__device__ void multiply_slices(const A& a, int sharing, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending,
                                Share share) {
  const int together = Split ? slice_threads / sharing : slice_threads;
  const int rank = Split ? static_cast<int>(threadIdx.x) / together : 0;
  const int mine = Split ? static_cast<int>(threadIdx.x) % together : static_cast<int>(threadIdx.x);
  double dots[N ? N : 1] = {};
  take_turn();
  for (index_t first = index_t(blockIdx.x) * together; first < a.shape.rows; first += index_t(gridDim.x) * together) {
    const index_t position = first + mine;
    const bool in = position < a.shape.rows, ends = in && rank == 0;
    const auto row = static_cast<std::int32_t>(ends ? row_at(a, position) : 0); // one register of the walk's
    if (ends) bring_end_near(ending, beta, y.data, row);
    V sum = in ? share(lanes{rank, Split ? sharing : 1}, position) : V(0);
    if constexpr (Split) {
      __shared__ V room[slice_threads];
      __syncthreads(); // the sums before have been read
      room[threadIdx.x] = sum;
      __syncthreads();
      if (rank == 0)
        for (int k = 1; k < sharing; ++k) sum += room[k * together + mine];
    }
    if (ends) ending(alpha, sum, beta, y, row, dots);
  }
  finish<slice_threads, N>(dots, ending);
}

/// Blocks for `rows` rows. In a pass with sums a thread takes several rows, so that a block ends its sums once for all
/// of them: as many blocks as run at a time were the fastest (bicgstab on 64 copies of cage10, f64, H200: 84.3 us a
/// step, with 8 blocks a multiprocessor 85.8, with 12 90.6).
template <int N> unsigned slice_blocks(index_t rows, int sharing, const queue& q) {
  const index_t work = rows * sharing;
  return N > 0 ? blocks_for(work, slice_threads, q, blocks_with_sums)
               : static_cast<unsigned>((work + slice_threads - 1) / slice_threads);
}

/// How many threads share a row by this kernel name; "auto" leaves it to `threads_a_row`.
inline int sharing_for(std::string_view kernel, index_t rows, double mean_width, index_t widest) {
  if (kernel == "slices") return 1;
  const int best = threads_a_row(rows, mean_width, widest, index_t(current_queue().multiprocessors) * 1024);
  return kernel == "split" && best == 1 ? 2 : best;
}

} // namespace furrow::gpu
