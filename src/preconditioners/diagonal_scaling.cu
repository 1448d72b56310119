// SPDX-License-Identifier: BSD-3-Clause
#include "backends/gpu/space.hpp"

namespace furrow {

template <class V> void scale_on_gpu(cview<V> d, cview<V> x, view<V> y) {
  gpu::space<V>{}.sweep(x.size, scale_step<V>{d, x, y});
}

template void scale_on_gpu(cview<double>, cview<double>, view<double>);
template void scale_on_gpu(cview<float>, cview<float>, view<float>);

} // namespace furrow
