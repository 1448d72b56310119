// SPDX-License-Identifier: BSD-3-Clause
#include "backends/function_operator.hpp"

#include "space.hpp"

namespace furrow {

template <class V> void combine_on_gpu(V alpha, cview<V> t, V beta, view<V> y) {
  gpu::space<V>{}.sweep(y.size, pass(combine_step<V>{alpha, beta}, both(y), in(t)));
}
template <class V> void rescale_on_gpu(V beta, view<V> y) {
  gpu::space<V>{}.sweep(y.size, pass(rescale_step<V>{beta}, both(y)));
}
template <class V> void dot_on_gpu(cview<V> x, cview<V> y, slot xy) { gpu::space<V>{}.dot(x, y, xy); }
template <class V> void copy_on_gpu(cview<V> x, view<V> y) { gpu::space<V>{}.copy(x, y); }
template <class V> void gram_on_gpu(const typename epilogue<V>::gram& g, cview<V> y) {
  sweep_gram(gpu::space<V>{}, g, y);
}

template void combine_on_gpu(double, cview<double>, double, view<double>);
template void combine_on_gpu(float, cview<float>, float, view<float>);
template void rescale_on_gpu(double, view<double>);
template void rescale_on_gpu(float, view<float>);
template void dot_on_gpu(cview<double>, cview<double>, slot);
template void dot_on_gpu(cview<float>, cview<float>, slot);
template void copy_on_gpu(cview<double>, view<double>);
template void copy_on_gpu(cview<float>, view<float>);
template void gram_on_gpu<double>(const epilogue<double>::gram&, cview<double>);
template void gram_on_gpu<float>(const epilogue<float>::gram&, cview<float>);

} // namespace furrow
