// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_renewal.hpp"
#include "hierarchy.hpp"

#include <furrow/storage.hpp>

#include <memory>

namespace furrow::amg {

/// The same on the current GPU. Takes the levels of the host apart.
template <class There, class Here> There moved_to_gpu(Here h) {
  There there{{}, decltype(there.coarsest)(h.coarsest), std::move(h.facts), std::move(h.reason), h.scale, h.steps};
  for (auto& l : h.levels) {
    there.levels.push_back(upload(l));
    l = {};
  }
  return there;
}
inline hierarchy<float, gpu_array> on_gpu(hierarchy<float, host_array> h) {
  return moved_to_gpu<hierarchy<float, gpu_array>>(std::move(h));
}
inline hierarchy<double, gpu_array> on_gpu(hierarchy<double, host_array> h) {
  return moved_to_gpu<hierarchy<double, gpu_array>>(std::move(h));
}

/// M on the current GPU: the V-cycle of `multigrid_cycle`, in the hierarchy's precision for vectors of V. The host is
/// not asked: the whole of it can be recorded. An application is 2 degree products with A on each level, each with the
/// vector work of its step in the same pass, and 4 passes beside. Sums of a row in an order that its length decides:
/// the same bits on every run. It takes no memory. One application at a time. With `inner`
/// levels the K-cycle of `multigrid_cycle`, whose second steps are always made, see `inner_level_on_gpu`: each of these
/// levels is visited twice, which takes two products and four passes more. renews: for other values, null: the
/// hierarchy is then made from the beginning.
#if FURROW_HAS_GPU
template <class V, class W>
std::unique_ptr<any_preconditioner<V>> multigrid_on_gpu(hierarchy<W, gpu_array> h, int degree, spoken words,
                                                        std::unique_ptr<device_renewal<W>> renews,
                                                        std::size_t inner = 0);
#endif

} // namespace furrow::amg
