// SPDX-License-Identifier: BSD-3-Clause
#include "block_cg.hpp"

#include "gpu_passes.hpp"

#include "backends/gpu/space.hpp"

namespace furrow::block_cg {

template <class V>
std::vector<solve_report> run_on_gpu_columns(const linear_system<V>& systems, index_t columns,
                                             const solve_options& options, runner_of_one<V> alone) {
  return block_conjugate_gradients<gpu::space<V>, gpu_passes>(systems, columns, options, alone).run();
}
template std::vector<solve_report> run_on_gpu_columns(const linear_system<double>&, index_t, const solve_options&,
                                                      runner_of_one<double>);
template std::vector<solve_report> run_on_gpu_columns(const linear_system<float>&, index_t, const solve_options&,
                                                      runner_of_one<float>);

} // namespace furrow::block_cg
