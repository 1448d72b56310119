// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "backends/gpu/space.hpp"

namespace furrow::bicgstab_solver {

template <class V> solve_report on_gpu(const linear_system<V>& system, const solve_options& options) {
  gpu::space<V> space;
  return solve_by_bicgstab(space, system, options);
}

template solve_report on_gpu(const linear_system<double>&, const solve_options&);
template solve_report on_gpu(const linear_system<float>&, const solve_options&);

} // namespace furrow::bicgstab_solver
