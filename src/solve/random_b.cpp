// SPDX-License-Identifier: BSD-3-Clause
#include "random_b.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/value.hpp>

#include <cmath>

namespace furrow {

template <class V> void begin_at_random(view<V> b, view<V> y, cview<V> m, index_t first) {
  cpu::for_each_range(b.size, 1 << 15, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) b[i] = V(drawn_of_b(std::uint64_t(first + i))), y[i] = 0;
    for (index_t i = begin; i < (m.empty() ? begin : end); ++i) b[i] /= std::sqrt(m[i]);
  });
}

#if !FURROW_HAS_GPU
template <class V> void begin_at_random_on_gpu(view<V>, view<V>, cview<V>) {
  throw error(fault::device, "this build has no GPU part");
}
template void begin_at_random_on_gpu(view<double>, view<double>, cview<double>);
template void begin_at_random_on_gpu(view<float>, view<float>, cview<float>);
#endif

template void begin_at_random(view<double>, view<double>, cview<double>, index_t);
template void begin_at_random(view<float>, view<float>, cview<float>, index_t);

} // namespace furrow
