// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/gpu/far_rows.hpp"

namespace furrow::amg {

/// more(row, sum) for each row that has entries in columns of others, `sum` of them times their elements: behind the
/// pass over the own columns, whose work on that row it adds to. L threads a row.
template <int L, class W, class More>
__global__ void __launch_bounds__(gpu::far_threads) far_pass_kernel(gpu::far_part<W> a, gpu::arriving<W> x, More more) {
  a.template take_turn_with_rows<L>();
  const gpu::elements_of_others<W> there(x);
  const index_t groups = index_t(gridDim.x) * (gpu::far_threads / L);
  const int lane = int(threadIdx.x) % L;
  for (index_t k = (index_t(blockIdx.x) * gpu::far_threads + threadIdx.x) / L; k < a.rows; k += groups) {
    const W sum = a.template sum_of<L>(k, lane, there);
    if (lane == 0) more(index_t(a.row_of[k]), sum);
  }
}

/// Waits for the neighbours also where no row has such entries: they count on it.
template <class W, class More>
void far_pass(const gpu::queue& q, const gpu::far_part<W>& a, double entries, const gpu::arriving<W>& x, More more) {
  if (a.rows == 0 && x.when.neighbours == 0) return;
  const auto go = [&](auto kernel, int width) {
    gpu::launch(kernel, gpu::blocks_for(a.rows * width, gpu::far_threads, q, gpu::far_blocks), gpu::far_threads, 0, q,
                a, x, more);
  };
  if (entries > gpu::long_far_row * double(a.rows)) go(far_pass_kernel<4, W, More>, 4);
  else go(far_pass_kernel<1, W, More>, 1);
}

} // namespace furrow::amg
