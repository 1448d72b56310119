// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "operator_series.hpp"

/// What each space does for series in an operator, behind plain functions: operator.cpp for the CPU, operator.cu for
/// the GPU.
namespace furrow::chebyshev {

template <vector_space S>
void apply_in(S& space, cview<double> coefficients, interval on, const symmetric_operator<value_of<S>>& a,
              cview<value_of<S>> x, view<value_of<S>> y, index_t vectors) {
  using V = value_of<S>;
  const index_t n = a.a.shape().rows;
  chebyshev_vectors<S> t(space, a, on);
  for (index_t v = 0; v < vectors; ++v) t.sum(coefficients, cview<V>(x.data + v * n, n), part(y, v * n, n));
}

/// The moments of one random vector.
template <vector_space S>
std::vector<double> moments_in(S& space, const symmetric_operator<value_of<S>>& a, interval on, index_t count,
                               std::uint64_t seed) {
  using V = value_of<S>;
  const index_t n = a.a.shape().rows;
  auto x = space.make(n);
  space.sweep(n, operator_steps::random_signs<V>{as_view(x), seed});
  return chebyshev_vectors<S>(space, a, on).moments(count, as_cview(x));
}

} // namespace furrow::chebyshev
