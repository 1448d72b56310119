// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "reduce.hpp"

#include "backends/lanes.hpp"

/// Several vectors that lie row by row, in one pass over A.
namespace furrow::gpu {

inline constexpr int several_threads = 256, most_in_block = 16;

struct ignore_entry {
  template <class V> FURROW_HD void operator()(index_t, V) const {}
};
/// A format whose rows can be walked.
template <class A>
concept walks_rows = requires(const A& a) {
  each_entry(lanes{}, a, index_t(0), ignore_entry{});
};

template <class A> __device__ index_t row_of(const A& a, index_t position) {
  if constexpr (requires { row_at(a, position); }) return row_at(a, position);
  else return position;
}

/// Y <- A X for 2^shift vectors. A thread takes a row and a vector, so that threads beside it read the same entry,
/// which comes once, and the elements of X beside its own. `sharing` threads, each with every sharing-th entry, take a
/// row of a vector where rows are long; their sums are added across the warp. each_entry(lane, A, position, f(col,
/// val)) is the format's, and row_at(A, position) where it is not the position.
template <class A, class V>
__global__ void __launch_bounds__(several_threads) block_kernel(A a, int shift, int sharing, cview<V> x, view<V> y) {
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_threads + threadIdx.x;
  const int width = 1 << shift, q = static_cast<int>(thread) & (width - 1);
  const int rank = static_cast<int>(thread >> shift) & (sharing - 1);
  const index_t position = (thread >> shift) / sharing;
  const bool in = position < a.shape.rows;
  V sum = 0;
  if (in)
    each_entry(lanes{rank, sharing}, a, position, [&](index_t col, V val) { sum += val * x.data[(col << shift) + q]; });
  for (int distance = width * sharing / 2; distance >= width; distance /= 2)
    sum += from_lane_across<warp>(sum, distance);
  if (in && rank == 0) y.data[(row_of(a, position) << shift) + q] = sum;
}

/// The same for 2, 4, 8 or 16 vectors and rows of `mean` entries.
template <class A, class V> void multiply_block(const A& a, double mean, cview<V> x, view<V> y, index_t count) {
  if (y.empty()) return;
  int shift = 1, sharing = 1;
  while ((index_t(1) << shift) < count) ++shift;
  furrow::check(index_t(1) << shift == count && count <= most_in_block, fault::usage,
                "a GPU multiplies 2, 4, 8 or 16 vectors in one pass");
  while ((sharing << (shift + 1)) <= warp && 8 * sharing < mean) sharing *= 2;
  const index_t threads = a.shape.rows * sharing << shift;
  launch(block_kernel<A, V>, static_cast<unsigned>((threads + several_threads - 1) / several_threads), several_threads,
         0, current_queue(), a, shift, sharing, x, y);
}

} // namespace furrow::gpu
