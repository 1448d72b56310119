// SPDX-License-Identifier: BSD-3-Clause
#include "operator_space.hpp"

#include "backends/gpu/space.hpp"

namespace furrow::chebyshev {

template <class V>
void apply_on_gpu(cview<double> coefficients, interval on, const symmetric_operator<V>& a, cview<V> x, view<V> y,
                  index_t vectors) {
  gpu::space<V> space;
  apply_in(space, coefficients, on, a, x, y, vectors);
}

template <class V>
std::vector<double> moments_on_gpu(const symmetric_operator<V>& a, interval on, index_t count, std::uint64_t seed) {
  gpu::space<V> space;
  return moments_in(space, a, on, count, seed);
}

template <class V>
tridiagonal lanczos_on_gpu(const any_operator<V>& a, index_t steps, double scale, std::uint64_t seed) {
  gpu::space<V> space;
  return lanczos(space, a, steps, scale, seed);
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template void apply_on_gpu(cview<double>, interval, const symmetric_operator<V>&, cview<V>, view<V>, index_t);       \
  template std::vector<double> moments_on_gpu(const symmetric_operator<V>&, interval, index_t, std::uint64_t);         \
  template tridiagonal lanczos_on_gpu(const any_operator<V>&, index_t, double, std::uint64_t);
FURROW_INSTANTIATE(double)
FURROW_INSTANTIATE(float)
#undef FURROW_INSTANTIATE

} // namespace furrow::chebyshev
