// SPDX-License-Identifier: BSD-3-Clause
#include "block_cg.hpp"

namespace furrow::block_cg_solver {
namespace {

/// In groups of nearly equal size.
template <class V>
std::vector<solve_report> run_columns(const linear_system<V>& systems, index_t columns, const solve_options& options) {
  const index_t n = systems.a.shape().rows, groups = (columns + cpu::most_in_block - 1) / cpu::most_in_block;
  std::vector<solve_report> reports;
  solve_options o = options;
  for (index_t g = 0; g < groups; ++g) {
    const index_t first = cpu::part_begin(columns, groups, g), count = cpu::part_begin(columns, groups, g + 1) - first;
    linear_system<V> group = systems;
    group.b = {systems.b.data + first * n, count * n};
    group.x = part(systems.x, first * n, count * n);
    auto some = block_cg::block_conjugate_gradients<V>(group, count, o).run();
    for (const solve_report& r : some) o.time_limit -= r.solve_seconds;
    std::ranges::move(some, std::back_inserter(reports));
  }
  return reports;
}

struct block_cg_method {
  static constexpr std::string_view name = "block_cg";
};

} // namespace

extern const solver_entry entry{
    .name = "block_cg",
    .about = "conjugate gradients for several right-hand sides at once, on the CPU",
    .needs = {{true, true}, {true, true}},
    .vectors = fixed_vectors<block_cg_method, 5>,
    .f64 = run_on_device<cg_method, double>, // a block of one
    .f32 = run_on_device<cg_method, float>,
    .on_gpu = false,
    .columns_f64 = run_columns<double>,
    .columns_f32 = run_columns<float>,
};

} // namespace furrow::block_cg_solver
