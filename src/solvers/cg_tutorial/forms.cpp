// SPDX-License-Identifier: BSD-3-Clause
#include "forms.hpp"
#include "ahead.hpp"
#include "cg_tutorial.hpp"
#include "fused.hpp"

#include "backends/turn.hpp"
#include "core/check.hpp"
#include "solvers/cg/run.hpp"

#include <furrow/function_operator.hpp>

#include <algorithm>

namespace furrow {
namespace {

constexpr cg_form_entry table[] = {
    {cg_form::tutorial, "tutorial", "an operation a pass, scalars on the host"},
    {cg_form::fused, "fused", "three passes, scalars on the host"},
    {cg_form::beside, "beside", "and scalars beside the vectors"},
    {cg_form::ahead, "ahead", "and the host looks once a chunk"},
    {cg_form::graph, "graph", "and a chunk is a graph"},
};

bool has_graphs(device where) {
  const auto status = inspect_gpus();
  return std::ranges::any_of(status.gpus, [&](const auto& g) { return g.ordinal == where.ordinal && g.graphs; });
}

} // namespace

std::span<const cg_form_entry> cg_forms() { return table; }

std::string obstacle(cg_form f, device where) {
  if (f == cg_form::ahead && !where.is_gpu()) return "a CPU launches nothing that it could run ahead of";
  if (f == cg_form::graph && !where.is_gpu()) return "a CPU has no graphs: its loop calls functions, in chunks, above";
  if (f == cg_form::graph && !has_graphs(where))
    return "loops inside graphs are switched off by FURROW_GRAPHS, or need a driver from CUDA 12.4 on";
  return {};
}

cg_form form_of_cg(device where) { return where.is_gpu() && has_graphs(where) ? cg_form::graph : cg_form::beside; }

template <class V>
solve_report run_cg_form(cg_form f, const any_operator<V>& a, const stats& s, cview<V> b, view<V> x,
                         const solve_options& options, index_t steps) {
  const device where = a.where();
  const std::string why = obstacle(f, where);
  check(why.empty(), fault::usage, "{}", why);
  const turn now(where);
  const auto m = find_preconditioner("none").make<V>()(coo<V>{a.shape(), {}, {}, {}}, {}, where, solver_needs{});
  const linear_system<V> system{a, *m, b, x, s.norm_inf, s.norm_inf, s.row_max};
  switch (f) {
  case cg_form::tutorial:
    return run_on_device<cg_tutorial_method>(where, system, options);
  case cg_form::fused:
    return run_on_device<cg_fused_method>(where, system, options);
  case cg_form::ahead: {
    solve_options to_the_end = options;
    to_the_end.watch_every = steps;
    return run_ahead(system, to_the_end);
  }
  case cg_form::beside: {
    const driven_by_host host(where);
    solve_report report = run_on_device<cg_method>(where, system, options);
    if (where.is_gpu()) report.waits += report.iterations; // for the verdict of each step
    return report;
  }
  case cg_form::graph:
    return run_on_device<cg_method>(where, system, options);
  }
  require(false, "a form of conjugate gradients");
  return {};
}

template solve_report run_cg_form(cg_form, const any_operator<double>&, const stats&, cview<double>, view<double>,
                                  const solve_options&, index_t);
template solve_report run_cg_form(cg_form, const any_operator<float>&, const stats&, cview<float>, view<float>,
                                  const solve_options&, index_t);

} // namespace furrow
