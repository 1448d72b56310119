// SPDX-License-Identifier: BSD-3-Clause
#include "block_cg.hpp"

#include "passes.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "solve/run.hpp"
#include "solvers/cg/run.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace furrow::block_cg {

void refuse_too_large(index_t columns, double takes, device where) {
  const double most = double(where.is_gpu() ? available_gpu_memory(where.ordinal) : available_host_memory());
  check(takes <= most, fault::memory, "{} columns at once take {:.3g} GB more memory{}, of which {:.3g} GB can be had",
        columns, takes * 1e-9, where.is_gpu() ? " on the GPU" : "", most * 1e-9);
}

std::string after_block(index_t iterations, const std::string& then) {
  return fmt::format("after {} of the block: {}", counted(iterations, "iteration"), then);
}

#if !FURROW_HAS_GPU
template <class V>
std::vector<solve_report> run_on_gpu_columns(const linear_system<V>&, index_t, const solve_options&, runner_of_one<V>) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

} // namespace furrow::block_cg

namespace furrow::block_cg_solver {
namespace {

template <class V> solve_report run_alone(const linear_system<V>& system, const solve_options& options) {
  return run_on_device<cg_method>(options.where, system, options);
}

template <class V>
std::vector<solve_report> run_group(const linear_system<V>& systems, index_t columns, const solve_options& options) {
  if (options.where.is_gpu()) return block_cg::run_on_gpu_columns<V>(systems, columns, options, run_alone<V>);
  return block_cg::block_conjugate_gradients<cpu::space<V>, block_cg::passes>(systems, columns, options, run_alone<V>)
      .run();
}

/// In groups of nearly equal size, none of which begins when one was stopped.
template <class V>
std::vector<solve_report> run_columns(const linear_system<V>& systems, index_t columns, const solve_options& options) {
  const index_t n = systems.a.shape().rows, groups = (columns + cpu::most_in_block - 1) / cpu::most_in_block;
  std::vector<solve_report> reports;
  solve_options o = options;
  bool stopped = false;
  for (index_t g = 0; g < groups; ++g) {
    const index_t first = cpu::part_begin(columns, groups, g), count = cpu::part_begin(columns, groups, g + 1) - first;
    if (stopped) {
      reports.insert(reports.end(), static_cast<std::size_t>(count), not_begun());
      continue;
    }
    linear_system<V> group = systems;
    group.b = {systems.b.data + first * n, count * n};
    group.x = part(systems.x, first * n, count * n);
    auto some = run_group<V>(group, count, o);
    for (const solve_report& r : some) o.time_limit -= r.solve_seconds;
    stopped = std::ranges::count(some, status::interrupted, &solve_report::why) > 0 || (o.cancelled && o.cancelled());
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
    .about = "conjugate gradients for several right-hand sides at once",
    .needs = {{true, true}, {true, true}},
    .vectors = fixed_vectors<block_cg_method, 5>,
    .f64 = run_on_device<cg_method, double>, // a block of one
    .f32 = run_on_device<cg_method, float>,
    .columns_f64 = run_columns<double>,
    .columns_f32 = run_columns<float>,
};

} // namespace furrow::block_cg_solver
