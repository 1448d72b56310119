// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial.hpp"

#include "backends/gpu/space.hpp"

namespace furrow::chebyshev_preconditioner {

template <class V> std::unique_ptr<any_preconditioner<V>> make_on_gpu(parts<V> p) {
  return std::make_unique<polynomial<gpu::space<V>>>(std::move(p));
}
template std::unique_ptr<any_preconditioner<double>> make_on_gpu(parts<double>);
template std::unique_ptr<any_preconditioner<float>> make_on_gpu(parts<float>);

} // namespace furrow::chebyshev_preconditioner
