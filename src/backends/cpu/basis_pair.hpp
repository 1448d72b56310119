// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "basis.hpp"

/// Products of a basis with two vectors at once on the CPU: what `basis.hpp` does for one.
namespace furrow::cpu {

/// Vectors that are taken together: two sums of each, in lanes, fit the registers of AVX2.
inline constexpr int basis_pair_group = 2;

/// out[2 t] += v_t . u and out[2 t + 1] += v_t . w for T neighbours of a basis, n elements.
template <int T, class E, class V>
FURROW_INLINE inline void add_pair_dots(const E* v, index_t stride, const V* u, const V* w, index_t n, double* out) {
  alignas(64) double lane[2 * T][basis_lanes] = {};
  index_t i = 0;
  for (; i + basis_lanes <= n; i += basis_lanes)
    for (int t = 0; t < T; ++t) {
#pragma omp simd
      for (int l = 0; l < basis_lanes; ++l) {
        const auto x = double(v[t * stride + i + l]);
        lane[2 * t][l] += x * double(u[i + l]);
        lane[2 * t + 1][l] += x * double(w[i + l]);
      }
    }
  for (int l = 0; i < n; ++i, ++l)
    for (int t = 0; t < T; ++t) {
      lane[2 * t][l] += double(v[t * stride + i]) * double(u[i]);
      lane[2 * t + 1][l] += double(v[t * stride + i]) * double(w[i]);
    }
  for (int k = 0; k < 2 * T; ++k) {
    double total = 0;
    for (const double share : lane[k]) total += share;
    out[k] += total;
  }
}

/// out += u . u; u . w; w . w; and v_k . u and v_k . w side by side for k < count.
template <class E, class V>
FURROW_INLINE inline void project_two_tile(const E* v, index_t stride, index_t count, const V* u, const V* w, index_t n,
                                           double* out) {
  double beside[4] = {};
  add_pair_dots<1>(u, 0, u, w, n, beside);
  add_pair_dots<1>(w, 0, u, w, n, beside + 2);
  out[0] += beside[0];
  out[1] += beside[1];
  out[2] += beside[3];
  index_t k = 0;
  for (; k + basis_pair_group <= count; k += basis_pair_group)
    add_pair_dots<basis_pair_group>(v + k * stride, stride, u, w, n, out + 3 + 2 * k);
  for (; k < count; ++k) add_pair_dots<1>(v + k * stride, stride, u, w, n, out + 3 + 2 * k);
}

/// a += h_0 v_0 + h_2 v_1 + ... and b += h_1 v_0 + h_3 v_1 + ... for T neighbours of a basis, n elements.
template <int T, class E, class V>
FURROW_INLINE inline void add_pair_multiples(const E* v, index_t stride, const double* h, V* a, V* b, index_t n) {
  V c[2 * T];
  for (int t = 0; t < 2 * T; ++t) c[t] = static_cast<V>(h[t]);
#pragma omp simd
  for (index_t i = 0; i < n; ++i) {
    V to_a = a[i], to_b = b[i];
    for (int t = 0; t < T; ++t) {
      const auto x = V(v[t * stride + i]);
      to_a += c[2 * t] * x;
      to_b += c[2 * t + 1] * x;
    }
    a[i] = to_a;
    b[i] = to_b;
  }
}

/// a = V (h_0, h_2, ...), b = V (h_1, h_3, ...).
template <class E, class V>
FURROW_INLINE inline void combine_two_tile(const E* v, index_t stride, index_t count, const double* h, V* a, V* b,
                                           index_t n) {
  std::fill(a, a + n, V(0));
  std::fill(b, b + n, V(0));
  index_t k = 0;
  for (; k + basis_group <= count; k += basis_group)
    add_pair_multiples<basis_group>(v + k * stride, stride, h + 2 * k, a, b, n);
  for (; k < count; ++k) add_pair_multiples<1>(v + k * stride, stride, h + 2 * k, a, b, n);
}

/// g = 2 count + 2; u'u; u'w; w'w; v_i'u and v_i'w side by side. `partial`: scratch.
template <class E, class V>
void project_two(const basis<E>& all, index_t count, const V* u, const V* w, double* g, std::vector<double>& partial) {
  const index_t blocks = (all.n + basis_block - 1) / basis_block, sums = 2 * count + 3;
  partial.assign(static_cast<std::size_t>(blocks * sums), 0.0);
  for_each_basis_block(all.n, [&](index_t block, index_t first, index_t last) {
    widest([&]() FURROW_INLINE {
      for (index_t i = first; i < last; i += basis_tile)
        project_two_tile(all.data + i, all.stride, count, u + i, w + i, std::min(basis_tile, last - i),
                         partial.data() + block * sums);
    });
  });
  g[0] = double(sums - 1);
  for (index_t k = 0; k < sums; ++k) {
    double total = 0;
    for (index_t b = 0; b < blocks; ++b) total += partial[static_cast<std::size_t>(b * sums + k)];
    g[1 + k] = total;
  }
}

/// A step that is given its parts of V a and V b, tile by tile.
template <class Step, class V> struct given_two_step {
  Step step;
  const V *a, *b; ///< of the elements from `first` on
  index_t first;
  FURROW_INLINE auto at(index_t i) const {
    auto values = step.at(i);
    Step::give(values, a[i - first], b[i - first]);
    return values;
  }
  template <class Values, int N> FURROW_INLINE void operator()(index_t i, Values v, sums<N> sum) const {
    step(i, v, sum);
  }
};

} // namespace furrow::cpu
