// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "isa.hpp"
#include "parallel.hpp"

#include <furrow/space.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

/// Products with the vectors of a basis on the CPU: blocks of rows, in which one vector after the other is streamed
/// while the block of w stays in the first cache. Sums are added up in the order of the blocks.
namespace furrow::cpu {

/// Elements of a task, and of a tile: 512 elements of 30 vectors of double, 120 KB, stay in the second cache between
/// the two times that `subtract_and_project` reads them.
inline constexpr index_t basis_block = 2048, basis_tile = 512;
/// Vectors that are taken together: w is read once for so many.
inline constexpr int basis_group = 4;
/// Running sums of a dot product inside a tile.
inline constexpr int basis_lanes = 8;

/// out[t] += v_t . w for T neighbours of a basis, n elements.
template <int T, class E, class V>
FURROW_INLINE inline void add_dots(const E* v, index_t stride, const V* w, index_t n, double* out) {
  alignas(64) double lane[T][basis_lanes] = {};
  index_t i = 0;
  for (; i + basis_lanes <= n; i += basis_lanes)
    for (int t = 0; t < T; ++t) {
#pragma omp simd
      for (int l = 0; l < basis_lanes; ++l) lane[t][l] += double(v[t * stride + i + l]) * double(w[i + l]);
    }
  for (int l = 0; i < n; ++i, ++l)
    for (int t = 0; t < T; ++t) lane[t][l] += double(v[t * stride + i]) * double(w[i]);
  for (int t = 0; t < T; ++t) {
    double total = 0;
    for (const double share : lane[t]) total += share;
    out[t] += total;
  }
}

/// sum += h_0 v_0 + ... for T neighbours of a basis, n elements.
template <int T, class E, class V>
FURROW_INLINE inline void add_multiples(const E* v, index_t stride, const double* h, V* sum, index_t n) {
  V c[T];
  for (int t = 0; t < T; ++t) c[t] = static_cast<V>(h[t]);
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    V s = sum[i];
    for (int t = 0; t < T; ++t) s += c[t] * V(v[t * stride + i]);
    sum[i] = s;
  }
}

/// out[k] += v_k . w for k < count, and out[count] += w . w.
template <class E, class V>
FURROW_INLINE inline void project_tile(const E* v, index_t stride, index_t count, const V* w, index_t n, double* out) {
  index_t k = 0;
  for (; k + basis_group <= count; k += basis_group) add_dots<basis_group>(v + k * stride, stride, w, n, out + k);
  for (; k < count; ++k) add_dots<1>(v + k * stride, stride, w, n, out + k);
  add_dots<1>(w, 0, w, n, out + count);
}

/// sum = V h.
template <class E, class V>
FURROW_INLINE inline void combine_tile(const E* v, index_t stride, index_t count, const double* h, V* sum, index_t n) {
  std::fill(sum, sum + n, V(0));
  index_t k = 0;
  for (; k + basis_group <= count; k += basis_group) add_multiples<basis_group>(v + k * stride, stride, h + k, sum, n);
  for (; k < count; ++k) add_multiples<1>(v + k * stride, stride, h + k, sum, n);
}

/// task(block, first, last) for the blocks of n elements, in any order.
template <class F> void for_each_basis_block(index_t n, F task) {
  const index_t blocks = (n + basis_block - 1) / basis_block;
  const auto run = [&](index_t b) { task(b, b * basis_block, std::min(n, (b + 1) * basis_block)); };
  if (blocks >= 2) for_each_task(blocks, run);
  else
    for (index_t b = 0; b < blocks; ++b) run(b);
}

/// g = V' w; for a w that may be written, w -= V h first. `partial`: scratch.
template <class E, class W>
void project(const basis<E>& all, index_t count, const double* h, W* w, double* g, double* squares,
             std::vector<double>& partial) {
  using V = std::remove_const_t<W>;
  const index_t blocks = (all.n + basis_block - 1) / basis_block, sums = count + 1;
  partial.assign(static_cast<std::size_t>(blocks * sums), 0.0);
  for_each_basis_block(all.n, [&](index_t block, index_t first, index_t last) {
    widest([&]() FURROW_INLINE {
      [[maybe_unused]] alignas(64) V along[basis_tile];
      for (index_t i = first; i < last; i += basis_tile) {
        const index_t n = std::min(basis_tile, last - i);
        if constexpr (!std::is_const_v<W>) {
          combine_tile(all.data + i, all.stride, count, h, along, n);
#pragma omp simd
          for (index_t k = 0; k < n; ++k) w[i + k] -= along[k];
        }
        project_tile(all.data + i, all.stride, count, w + i, n, partial.data() + block * sums);
      }
    });
  });
  for (index_t k = 0; k < sums; ++k) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += partial[static_cast<std::size_t>(b * sums + k)];
    (k < count ? g[k] : *squares) = total;
  }
}

/// A step that is given its part of V h, tile by tile.
template <class Step, class V> struct given_step {
  Step step;
  const V* along; ///< of the elements from `first` on
  index_t first;
  FURROW_INLINE auto at(index_t i) const {
    auto values = step.at(i);
    Step::give(values, along[i - first]);
    return values;
  }
  template <class Values, int N> FURROW_INLINE void operator()(index_t i, Values v, sums<N> sum) const {
    step(i, v, sum);
  }
};

} // namespace furrow::cpu
