// SPDX-License-Identifier: BSD-3-Clause
#include "moved_vector.hpp"

#include "backends/gpu/space.hpp"

namespace furrow {

template <class V> void move_on_gpu(const move_step<V>& step) { gpu::space<V>{}.sweep(step.y.size, step); }
template void move_on_gpu(const move_step<double>&);
template void move_on_gpu(const move_step<float>&);

} // namespace furrow
