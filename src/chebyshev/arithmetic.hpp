// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"
#include "backends/unroll.hpp"

#include <furrow/chebyshev/product.hpp>

/// What a coefficient of a product is, for CPU and GPU.
///
/// A primed series is half of a Laurent series that is even: 1/2 sum_{i in Z} a_|i| z^i, z + 1/z = 2x. So the product
/// in the primed convention is one convolution of even extensions, c_k = 1/2 sum_i a_|i| b_|k-i|, and has neither a
/// special coefficient nor a special length. A plain series is a primed one whose first coefficient is doubled.
namespace furrow::chebyshev {

/// A factor in the even extension: coefficient |i|, or 0 beyond the end.
template <class V> struct factor {
  const V* data;
  index_t size;
  V first; ///< 2 for a plain series, 1 for a primed one

  FURROW_HD V operator()(index_t i) const {
    const index_t k = i < 0 ? -i : i;
    const V v = data[k < size ? k : 0]; // always a load: a GPU has many under way that way
    return k == 0 ? first * v : k < size ? v : V(0);
  }
};
template <class V> factor<V> factor_of(const V* data, index_t size, convention series) {
  return {data, size, series == convention::plain ? V(2) : V(1)};
}

/// The indices i that contribute to the coefficients [k, k + count): [begin, end).
struct index_range {
  index_t begin, end;
};
FURROW_HD inline index_range terms(index_t na, index_t nb, index_t k, index_t count = 1) {
  const index_t low = k - (nb - 1), high = k + count - 1 + (nb - 1);
  return {low > 1 - na ? low : 1 - na, (high < na - 1 ? high : na - 1) + 1};
}

/// One lane's share of 2 c_k (primed): every lane.size-th term of each sum, and lane 0 the terms of a_0 and b_0.
template <class V> FURROW_HD V partial(lanes lane, const factor<V>& a, const factor<V>& b, index_t k) {
  const auto least = [](index_t x, index_t y) { return x < y ? x : y; };
  const index_t below = k - (b.size - 1);
  V sum = lane.rank > 0 ? V(0) : k == 0 ? a(0) * b(0) : a(0) * b(k) + a(k) * b(0);
  FURROW_UNROLL_BY(8)
  for (index_t i = (below > 1 ? below : 1) + lane.rank; i < least(a.size, k); i += lane.size)
    sum += a.data[i] * b.data[k - i];
  FURROW_UNROLL_BY(8)
  for (index_t j = 1 + lane.rank; j < least(a.size, b.size - k); j += lane.size) sum += a.data[j] * b.data[j + k];
  FURROW_UNROLL_BY(8)
  for (index_t j = 1 + lane.rank; j < least(b.size, a.size - k); j += lane.size) sum += a.data[j + k] * b.data[j];
  return sum;
}

/// c_k in the convention of the factors.
template <class V> FURROW_HD V coefficient_of(V sum, index_t k, convention series) {
  return (k == 0 && series == convention::plain ? V(0.25) : V(0.5)) * sum;
}

/// Where a series of a batch begins.
template <class V> FURROW_HD V* series_at(batch<V> b, index_t s) {
  return b.count == 1 ? b.data : b.data + s * b.stride;
}

} // namespace furrow::chebyshev
