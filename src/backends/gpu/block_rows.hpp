// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "reduce.hpp"

#include "backends/lanes.hpp"

#include <cstdint>
#include <type_traits>

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

/// to <- P elements from an address on, which is a multiple of the bytes of a load where they are `aligned`.
template <int P, class V> __device__ __forceinline__ void load_elements(const V* from, bool aligned, V (&to)[P]) {
  using load = elements<V, P>;
#pragma unroll
  for (int k = 0; k < P / load::count; ++k) {
    load part;
    if (aligned) part = reinterpret_cast<const load*>(from)[k];
    else
      for (int j = 0; j < load::count; ++j) part.v[j] = from[k * load::count + j];
#pragma unroll
    for (int j = 0; j < load::count; ++j) to[k * load::count + j] = part.v[j];
  }
}

/// P elements to an address on.
template <int P, class V> __device__ __forceinline__ void store_elements(const V (&from)[P], bool aligned, V* to) {
  using part = elements<V, P>;
#pragma unroll
  for (int k = 0; k < P / part::count; ++k) {
    part some;
#pragma unroll
    for (int j = 0; j < part::count; ++j) some.v[j] = from[k * part::count + j];
    if (aligned) reinterpret_cast<part*>(to)[k] = some;
    else
      for (int j = 0; j < part::count; ++j) to[k * part::count + j] = some.v[j];
  }
}

/// Y <- A X. A thread takes P vectors of a row; 2^shift threads beside each other take the
/// whole row of X, so that they read the same entry, which comes once, and neighbouring elements. `sharing` such
/// groups, each with every sharing-th entry, take a row together; their sums are added across the warp.
/// each_entry(lane, A, position, f(col, val)) is the format's, and row_at(A, position) where it is not the position.
template <int P, class A, class V>
__global__ void __launch_bounds__(several_threads)
    block_kernel(A a, int shift, int sharing, bool aligned, cview<V> x, view<V> y) {
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_threads + threadIdx.x, group = thread >> shift;
  const int first = P * (static_cast<int>(thread) & ((1 << shift) - 1)), rank = static_cast<int>(group) & (sharing - 1);
  const index_t position = group / sharing;
  const bool in = position < a.shape.rows;
  V sum[P] = {};
  if (in)
    each_entry(lanes{rank, sharing}, a, position, [&](index_t col, V val) {
      V of_x[P];
      load_elements(x.data + (col << shift) * P + first, aligned, of_x);
#pragma unroll
      for (int q = 0; q < P; ++q) sum[q] += val * of_x[q];
    });
  for (int distance = sharing / 2; distance > 0; distance /= 2)
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += from_lane_across<warp>(sum[q], distance << shift);
  if (!in || rank > 0) return;
  store_elements(sum, aligned, y.data + (row_of(a, position) << shift) * P + first);
}

template <int P, class V> bool are_aligned(cview<V> x) {
  return reinterpret_cast<std::uintptr_t>(x.data) % alignof(elements<V, P>) == 0;
}

template <int P, class A, class V> void multiply_block_by(const A& a, int shift, int sharing, cview<V> x, view<V> y) {
  const index_t threads = a.shape.rows * sharing << shift;
  launch(block_kernel<P, A, V>, static_cast<unsigned>((threads + several_threads - 1) / several_threads),
         several_threads, 0, current_queue(), a, shift, sharing, are_aligned<P>(x) && are_aligned<P>(cview<V>(y)), x,
         y);
}

/// Throws `fault::usage` for a number of vectors that is not multiplied in one pass.
inline void check_several(index_t count) {
  furrow::check(count == 2 || count == 4 || count == 8 || count == 16, fault::usage,
                "a GPU multiplies 2, 4, 8 or 16 vectors in one pass");
}

/// f(std::integral_constant<int, P>, shift): how 2, 4, 8 or 16 vectors are shared, P for each of 2^shift threads.
template <class F> void share_vectors(index_t count, F f) {
  switch (count) {
  case 2:
    return f(std::integral_constant<int, 2>{}, 0);
  case 4:
    return f(std::integral_constant<int, 4>{}, 0);
  case 8:
    return f(std::integral_constant<int, 4>{}, 1);
  default:
    return f(std::integral_constant<int, 4>{}, 2);
  }
}

/// A format that multiplies several vectors by blocks, never row by row.
template <class A>
concept has_blocks = requires(const A& a) {
  a.block_ptr;
};

/// A format whose rows lie one behind the other, so that the groups that share one read the same lines. Elsewhere
/// neighbouring rows lie beside each other, and a group takes one alone: 1.6 times as fast on a band of 20 in `packed`.
template <class A>
concept has_runs = requires(const A& a) {
  a.row_ptr;
};

/// The same for 2, 4, 8 or 16 vectors and rows of `mean` entries.
template <class A, class V> void multiply_block(const A& a, double mean, cview<V> x, view<V> y, index_t count) {
  constexpr double long_row = 12; // from here on four groups share it, otherwise two
  if (y.empty()) return;
  const int sharing = !has_runs<A> ? 1 : mean < long_row ? 2 : 4;
  share_vectors(
      count, [&]<int P>(std::integral_constant<int, P>, int shift) { multiply_block_by<P>(a, shift, sharing, x, y); });
}

} // namespace furrow::gpu
