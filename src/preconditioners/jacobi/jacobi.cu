// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "backends/gpu/primitives.hpp"

#include <limits>

namespace furrow::jacobi_preconditioner {
namespace on_gpu {

template <class V> constexpr V largest_number = std::numeric_limits<V>::max();

template <class V> struct invert {
  wanted_inverse wanted;
  V* d;
  int* refused;
  FURROW_HD void operator()(index_t i) const {
    const V own = d[i], size = own < 0 ? -own : own, inverse = V(1) / (wanted.absolute ? size : own);
    if ((wanted.positive && !(own > 0)) || !(V(1) / size <= largest_number<V>)) *refused = 1;
    d[i] = inverse;
  }
};

} // namespace on_gpu

template <class V> std::optional<gpu_array<V>> inverse_on_gpu(const rows_on_gpu<V>& a, wanted_inverse wanted) {
  gpu_array<V> d = diagonal_of(a);
  gpu_array<int> refused(1);
  gpu::fill_bytes(refused, 0);
  gpu::for_each(d.size(), on_gpu::invert<V>{wanted, d.data(), refused.data()});
  if (gpu::fetch(refused.data())) return std::nullopt;
  return d;
}

template std::optional<gpu_array<double>> inverse_on_gpu(const rows_on_gpu<double>&, wanted_inverse);
template std::optional<gpu_array<float>> inverse_on_gpu(const rows_on_gpu<float>&, wanted_inverse);

} // namespace furrow::jacobi_preconditioner
