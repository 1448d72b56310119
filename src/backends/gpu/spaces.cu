// SPDX-License-Identifier: BSD-3-Clause
#include "backends/spaces.hpp"

#include "space.hpp"

namespace furrow {

template <class V> struct space_behind<V, gpu_memory> { using type = gpu::space<V>; };

template class basic_space<double, gpu_memory>;
template class basic_space<float, gpu_memory>;

} // namespace furrow
