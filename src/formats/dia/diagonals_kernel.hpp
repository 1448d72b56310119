// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dia.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"
#include "backends/shared_array.hpp"

namespace furrow::dia_format {
namespace { // nvcc gives the kernel 40 registers in place of 32 where others might launch it too

inline constexpr int diagonals_threads = 256, offsets_at_once = 1024;

/// y <- alpha A x + beta y, a thread a row; the block reads the offsets once, into shared memory, 1024 at a time (Bell
/// and Garland 2008, section 4.1). Ends rows as `ending` asks for. Blocks stride over the rows together.
template <class V, int N, int Threads = diagonals_threads>
__global__ void __launch_bounds__(Threads)
    diagonals_kernel(dia<V, cview> a, V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) {
  using index = std::remove_cv_t<std::remove_reference_t<decltype(a.offset[0])>>;
  FURROW_SHARED(index, offset, offsets_at_once);
  double dots[N ? N : 1] = {};
  gpu::take_turn();
  const index_t diagonals = a.offset.size;
  for (index_t first = index_t(blockIdx.x) * Threads; first < a.shape.rows; first += index_t(gridDim.x) * Threads) {
    const index_t row = first + threadIdx.x;
    V sum{};
    for (index_t base = 0; base < diagonals; base += offsets_at_once) {
      const int count = static_cast<int>(diagonals - base < offsets_at_once ? diagonals - base : offsets_at_once);
      __syncthreads();
      for (int k = threadIdx.x; k < count; k += Threads) offset[k] = a.offset[base + k];
      __syncthreads();
      if (row >= a.shape.rows) continue;
      for (int k = 0; k < count; ++k) {
        const index_t col = row + offset[k];
        if (col >= 0 && col < a.shape.cols) sum += a.val[(base + k) * a.stride + row] * x[col];
      }
    }
    if (row >= a.shape.rows) continue;
    ending(alpha, sum, beta, y, row, dots);
  }
  gpu::finish<Threads, N>(dots, ending);
}

} // namespace
} // namespace furrow::dia_format
