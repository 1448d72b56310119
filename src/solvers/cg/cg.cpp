// SPDX-License-Identifier: BSD-3-Clause
#include "cg.hpp"

#include "backends/cpu/space.hpp"

namespace furrow::cg_solver {

#if FURROW_HAS_GPU
template <class V> solve_report on_gpu(const linear_system<V>& system, const solve_options& options);
#else
template <class V> solve_report on_gpu(const linear_system<V>&, const solve_options&) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

namespace {

template <class V> solve_report run(device where, const linear_system<V>& system, const solve_options& options) {
  if (where.is_gpu()) return on_gpu<V>(system, options);
  cpu::space<V> space;
  return solve_by_cg(space, system, options);
}

} // namespace

extern const solver_entry entry{
    "cg", "conjugate gradients, for symmetric positive definite matrices", {true, true}, 4, run<double>, run<float>,
};

} // namespace furrow::cg_solver
