// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "backends/gpu/block_rows.hpp"

namespace furrow::gpu {

/// The shape of the kernel for several vectors.
struct several_stencils {
  static constexpr int threads = 256;
  static constexpr int at_once = 4; ///< entries that a thread has under way
};

/// The next B entries of a row, from `k` on.
template <int B, int P, class V>
__device__ __forceinline__ void add_entries(const stencil_table<V>& t, int k, const V* x, int vectors, V (&sum)[P]) {
  V of_x[B][P], value[B];
#pragma unroll
  for (int u = 0; u < B; ++u) {
    value[u] = t.val[k + u];
    load_elements(x + index_t(t.offset[k + u]) * vectors, true, of_x[u]);
  }
#pragma unroll
  for (int u = 0; u < B; ++u)
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += value[u] * of_x[u][q];
}

/// Whose rows a kernel leaves to another one: nobody's,
struct no_stencils {
  __device__ bool operator()(int) const { return false; }
};
/// and those of the stencils that are marked.
struct marked_stencils {
  std::uint32_t bits[8] = {};
  __device__ bool operator()(int number) const { return bits[number / 32] >> (number % 32) & 1; }
};

/// Y <- A X for P 2^shift vectors, in the rows of the table but for those that are left out. 2^shift threads beside
/// each other take a row, with a load of 16 bytes each an entry, so that a warp reads whole lines of X: the first cache
/// is the bound, of 27 points on 128^3 it takes 252 us so and 317 with two loads an entry and half of the threads (8
/// vectors, f64, H200).
template <int P, class Left, class V, class N>
__global__ void __launch_bounds__(several_stencils::threads)
    several_stencils_kernel(stencil<V, N, cview> a, Left left, int shift, cview<V> x, view<V> y) {
  constexpr int B = several_stencils::at_once;
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_stencils::threads + threadIdx.x, row = thread >> shift;
  if (row >= a.shape.rows) return;
  const int number = a.number[row], vectors = P << shift;
  if (number >= stencils_of(a) || left(number)) return;
  const index_t own = row * vectors + P * (thread & ((1 << shift) - 1));
  const stencil_table<V> t{a.start.data, a.offset.data, a.val.data};
  V sum[P] = {};
  const int end = t.start[number + 1];
  int k = t.start[number];
  for (; k + B <= end; k += B) add_entries<B>(t, k, x.data + own, vectors, sum);
  for (; k < end; ++k) add_entries<1>(t, k, x.data + own, vectors, sum);
  store_elements(sum, true, y.data + own);
}

/// The same in the rows beside the table.
template <int P, class V, class N>
__global__ void __launch_bounds__(several_stencils::threads)
    several_beside_kernel(stencil<V, N, cview> a, int shift, cview<V> x, view<V> y) {
  take_turn();
  const index_t thread = index_t(blockIdx.x) * several_stencils::threads + threadIdx.x, place = thread >> shift;
  if (place >= a.rest_row.size) return;
  const int vectors = P << shift, first = P * static_cast<int>(thread & ((1 << shift) - 1));
  V sum[P] = {};
  each_entry(lanes{}, a.rest, place, [&](index_t col, V value) {
    V of_x[P];
    load_elements(x.data + col * vectors + first, true, of_x);
#pragma unroll
    for (int q = 0; q < P; ++q) sum[q] += value * of_x[q];
  });
  store_elements(sum, true, y.data + index_t(a.rest_row[place]) * vectors + first);
}

/// The same in the rows that are not left out and those beside the table, for 2, 4, 8 or 16 vectors. False, and nothing
/// done, where X or Y is not aligned to loads. none: no rows of the table.
template <class V, class N, class Left>
bool multiply_several_stencils(const stencil<V, N, cview>& a, const Left& left, bool none, cview<V> x, view<V> y,
                               index_t count) {
  const auto by = [&]<int P>(std::integral_constant<int, P>) {
    if (!are_aligned<P>(x) || !are_aligned<P>(cview<V>(y))) return false;
    int shift = 0;
    while (index_t(P) << shift < count) ++shift;
    const auto run = [&](auto kernel, index_t rows, const auto&... which) {
      constexpr int threads = several_stencils::threads;
      if (rows > 0)
        launch(kernel, static_cast<unsigned>(((rows << shift) + threads - 1) / threads), threads, 0, current_queue(), a,
               which..., shift, x, y);
    };
    run(several_stencils_kernel<P, Left, V, N>, none ? 0 : a.shape.rows, left);
    run(several_beside_kernel<P, V, N>, a.rest_row.size);
    return true;
  };
  constexpr int of_a_load = 16 / static_cast<int>(sizeof(V));
  return count < of_a_load ? by(std::integral_constant<int, 2>{}) : by(std::integral_constant<int, of_a_load>{});
}

} // namespace furrow::gpu
