// SPDX-License-Identifier: BSD-3-Clause
#include "ahead.hpp"

#include "backends/gpu/ahead_loop.hpp"
#include "solvers/cg/cg.hpp"
#include "solvers/on_gpu.hpp"

namespace furrow {
namespace {

/// The GPU's space, but for its loop.
template <class V> class ahead_space : public gpu::space<V> {
public:
  template <class Body, class Until>
  gpu::ahead_loop<Body, Until> repeat(Body body, Until until, bool /*waits*/ = false) {
    return {body, until};
  }
};

} // namespace

template <class V> solve_report run_ahead(const linear_system<V>& system, const solve_options& options) {
  ahead_space<V> space;
  return run_in<cg_method>(space, system, options);
}

template solve_report run_ahead(const linear_system<double>&, const solve_options&);
template solve_report run_ahead(const linear_system<float>&, const solve_options&);

} // namespace furrow
