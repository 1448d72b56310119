// SPDX-License-Identifier: BSD-3-Clause
// What launches for many systems are in a build without the GPU part.
#if !FURROW_HAS_GPU
#include "engine.hpp"

#include <furrow/error.hpp>

namespace furrow::small_systems {

chip chip_of(device) { return {}; }
template <class V> std::unique_ptr<engine<V>> make_engine(device) {
  throw error(fault::device, "this build has no GPU part: it was compiled without nvcc");
}
template std::unique_ptr<engine<double>> make_engine(device);
template std::unique_ptr<engine<float>> make_engine(device);

} // namespace furrow::small_systems
#endif
