// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "reduce.hpp"

#include "backends/lanes.hpp"

#include <cstdint>

/// Several vectors that lie row by row, in one pass over A.
namespace furrow::gpu {

inline constexpr int several_threads = 256;

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

/// Elements that one load brings, at most 16 bytes.
template <class V, int P> struct alignas(P * sizeof(V) < 16 ? P * sizeof(V) : 16) elements {
  static constexpr int count = P * int(sizeof(V)) < 16 ? P : 16 / int(sizeof(V));
  V v[count];
};

/// Y <- A X. A thread takes P vectors of a row; 2^shift threads beside each other take the whole row of X, so that they
/// read the same entry, which comes once, and neighbouring elements. `sharing` such groups, each with every sharing-th
/// entry, take a row together; their sums are added across the warp. each_entry(lane, A, position, f(col, val)) is the
/// format's, and row_at(A, position) where it is not the position.
template <int P, class A, class V>
__global__ void __launch_bounds__(several_threads)
    block_kernel(A a, int shift, int sharing, bool aligned, cview<V> x, view<V> y) {
  using load = elements<V, P>;
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_threads + threadIdx.x, group = thread >> shift;
  const int first = P * (static_cast<int>(thread) & ((1 << shift) - 1)), rank = static_cast<int>(group) & (sharing - 1);
  const index_t position = group / sharing;
  const bool in = position < a.shape.rows;
  V sum[P] = {};
  if (in)
    each_entry(lanes{rank, sharing}, a, position, [&](index_t col, V val) {
      const V* const from = x.data + (col << shift) * P + first;
      load part[P / load::count];
#pragma unroll
      for (int k = 0; k < P / load::count; ++k)
        if (aligned) part[k] = reinterpret_cast<const load*>(from)[k];
        else
          for (int j = 0; j < load::count; ++j) part[k].v[j] = from[k * load::count + j];
#pragma unroll
      for (int q = 0; q < P; ++q) sum[q] += val * part[q / load::count].v[q % load::count];
    });
  for (int distance = sharing / 2; distance > 0; distance /= 2)
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += from_lane_across<warp>(sum[q], distance << shift);
  if (!in || rank > 0) return;
  V* const to = y.data + (row_of(a, position) << shift) * P + first;
#pragma unroll
  for (int q = 0; q < P; ++q) to[q] = sum[q];
}

template <int P, class A, class V> void multiply_block_by(const A& a, int shift, int sharing, cview<V> x, view<V> y) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(x.data) % alignof(elements<V, P>) == 0;
  const index_t threads = a.shape.rows * sharing << shift;
  launch(block_kernel<P, A, V>, static_cast<unsigned>((threads + several_threads - 1) / several_threads),
         several_threads, 0, current_queue(), a, shift, sharing, aligned, x, y);
}

/// The same for 2, 4, 8 or 16 vectors and rows of `mean` entries.
template <class A, class V> void multiply_block(const A& a, double mean, cview<V> x, view<V> y, index_t count) {
  constexpr double long_row = 12; // from here on four groups share it, otherwise two
  if (y.empty()) return;
  const int sharing = mean < long_row ? 2 : 4;
  switch (count) {
  case 2:
    return multiply_block_by<2>(a, 0, sharing, x, y);
  case 4:
    return multiply_block_by<4>(a, 0, sharing, x, y);
  case 8:
    return multiply_block_by<4>(a, 1, sharing, x, y);
  case 16:
    return multiply_block_by<4>(a, 2, sharing, x, y);
  default:
    throw error(fault::usage, "a GPU multiplies 2, 4, 8 or 16 vectors in one pass");
  }
}

} // namespace furrow::gpu
