// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/lanes.hpp"

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
    return k == 0 ? first * data[0] : k < size ? data[k] : V(0);
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

/// One lane's share of 2 c_k (primed): every lane.size-th term.
template <class V> FURROW_HD V partial(lanes lane, const factor<V>& a, const factor<V>& b, index_t k) {
  const index_range r = terms(a.size, b.size, k);
  V sum = 0;
  for (index_t i = r.begin + lane.rank; i < r.end; i += lane.size) sum += a(i) * b(k - i);
  return sum;
}

/// c_k in the convention of the factors.
template <class V> FURROW_HD V coefficient_of(V sum, index_t k, convention series) {
  return (k == 0 && series == convention::plain ? V(0.25) : V(0.5)) * sum;
}

/// Where a series of a batch begins.
template <class V> FURROW_HD V* series_at(batch<V> b, index_t s) { return b.data + (b.count == 1 ? 0 : s * b.stride); }

} // namespace furrow::chebyshev
