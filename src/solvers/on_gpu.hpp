// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "method.hpp"

#include "backends/gpu/ranks_space.hpp"

namespace furrow {

/// See on_device.hpp.
template <class Method, class V> solve_report run_on_gpu(const linear_system<V>& system, const solve_options& options) {
  const auto* const on = system.ranks ? dynamic_cast<const gpu::on_gpus_of_ranks*>(&system.a) : nullptr;
  gpu::ranks_space<V> space(on ? &on->sums() : nullptr);
  return run_in<Method>(space, system, options);
}

} // namespace furrow

/// The GPU part of a method, for both precisions.
#define FURROW_SOLVER_ON_GPU(method)                                                                                   \
  namespace furrow {                                                                                                   \
  template solve_report run_on_gpu<method>(const linear_system<double>&, const solve_options&);                        \
  template solve_report run_on_gpu<method>(const linear_system<float>&, const solve_options&);                         \
  }
