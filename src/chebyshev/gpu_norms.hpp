// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"
#include "scale.hpp"

#include "backends/gpu/reduce.hpp"

/// The exponents of the norms of the factors, found where the factors are: nobody waits.
namespace furrow::chebyshev {

inline constexpr int norm_threads = 256, most_norm_blocks = 1024;

/// `blocks` partial sums a factor; the block that arrives last adds them in their order.
struct norm_table {
  squares* partial;
  unsigned* arrived;
  int* exponent; ///< of factor 2 s (a) and 2 s + 1 (b) of product s
};

/// The sum over the block, in thread 0: a tree of fixed shape.
__device__ inline squares sum_squares(squares mine, squares* room) {
  __syncthreads();
  room[threadIdx.x] = mine;
  for (int half = norm_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half) room[threadIdx.x].add(room[threadIdx.x + half]);
  }
  return threadIdx.x == 0 ? room[0] : squares{};
}

/// Product first + blockIdx.y, factor blockIdx.z.
template <class V>
__global__ void __launch_bounds__(norm_threads)
    norms_kernel(batch<const V> a, index_t na, batch<const V> b, index_t nb, norm_table table, index_t first) {
  __shared__ squares room[norm_threads];
  __shared__ bool last;
  const index_t s = first + blockIdx.y, f = 2 * s + blockIdx.z, n = blockIdx.z ? nb : na;
  const V* const from = blockIdx.z ? series_at(b, s) : series_at(a, s);
  squares sum;
#pragma unroll 4
  for (index_t i = index_t(blockIdx.x) * norm_threads + threadIdx.x; i < n; i += index_t(gridDim.x) * norm_threads)
    sum.add(double(from[i]));
  sum = sum_squares(sum, room);
  squares* const partial = table.partial + f * gridDim.x;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    last = gpu::arrives_last(table.arrived + f, gridDim.x);
  }
  __syncthreads();
  if (!last) return;
  sum = {};
  for (unsigned k = threadIdx.x; k < gridDim.x; k += norm_threads) {
    const volatile squares* const p = partial + k; // written by other blocks: past the first cache
    squares q;
    q.large = p->large, q.middle = p->middle, q.small = p->small;
    sum.add(q);
  }
  sum = sum_squares(sum, room);
  if (threadIdx.x == 0) {
    table.exponent[f] = sum.exponent();
    table.arrived[f] = 0;
  }
}

/// The memory of a table, and its kernel.
template <class V> class norm_finder {
public:
  norm_finder(const product_shape& shape, index_t count)
      : blocks_(blocks(shape)), partial_(2 * count * blocks_), arrived_(2 * count), exponent_(2 * count) {
    gpu::fill_bytes(arrived_, 0);
  }
  const int* exponents() const { return exponent_.data(); }
  double bytes() const { return double(partial_.byte_count() + arrived_.byte_count() + exponent_.byte_count()); }

  /// na, nb: lengths; 0 for a factor that is not asked for.
  void find(batch<const V> a, index_t na, batch<const V> b, index_t nb, index_t count) {
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < count; first += most) {
      const dim3 grid(unsigned(blocks_), unsigned(count - first < most ? count - first : most), 2);
      norms_kernel<<<grid, norm_threads, 0, gpu::current_queue().stream>>>(
          a, na, b, nb, norm_table{partial_.data(), arrived_.data(), exponent_.data()}, first);
      gpu::check_launch();
    }
  }

private:
  static int blocks(const product_shape& s) {
    const index_t longer = s.na > s.nb ? s.na : s.nb, n = (longer + 8 * norm_threads - 1) / (8 * norm_threads);
    return int(n < most_norm_blocks ? n : most_norm_blocks);
  }
  int blocks_;
  gpu_array<squares> partial_;
  gpu_array<unsigned> arrived_;
  gpu_array<int> exponent_;
};

} // namespace furrow::chebyshev
