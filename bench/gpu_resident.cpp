// SPDX-License-Identifier: BSD-3-Clause
// gpu_resident: conjugate gradients, and BiCGStab where a matrix is not symmetric, in one kernel on the chip beside the
// same as a graph, and beside a loop of cuSPARSE and cuBLAS calls without a preconditioner, in one run.
//   gpu_resident [--json FILE] [SPEC_OR_FILE...]      default: poisson3d:16, 24, 32, 40, 48, convection2d:70:20, 100,
//   150
// b = A * ones, Jacobi, and conjugate gradients with chebyshev and block_jacobi, too. An iteration is what more of them
// cost, a long run less a short one; of BiCGStab no more than take the residual to 1e-10. A whole solve is the next one
// of a solver that is kept, to 1e-8, b and x in the memory of the GPU.
#include "cusparse_cg.hpp"
#include "cusparse_krylov.hpp"
#include "measure.hpp"
#include "request.hpp"

#include "core/symmetry.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr int turns = 15;

struct measured {
  double iteration = 0, solve = 0, setup = 0;
  index_t iterations = 0; ///< of the whole solve
};

measured measure_method(const std::string& method, const coo<double>& a, const host_array<double>& b, index_t many,
                        const std::string& precond = "jacobi") {
  solve_options o;
  o.where = parse_device("gpu");
  o.solver = method;
  o.precond = precond;
  solver<double> kept(coo<double>(a), o);
  const gpu_array<double> there_b(b);
  const gpu_array<double> zero(host_array<double>(b.size(), 0.0));
  gpu_array<double> x(zero);
  const auto run = [&](double rtol, index_t most) {
    o.rtol = rtol, o.max_iterations = most;
    kept.set_limits(o);
    copy_bytes(gpu_memory{}, x.data(), gpu_memory{}, zero.data(), x.byte_count());
    return kept.solve(as_cview(there_b), as_view(x));
  };
  measured m;
  m.setup = kept.setup_seconds();
  std::vector<double> each, whole;
  for (int turn = 0; turn <= turns; ++turn) {
    const auto short_run = run(1e-200, many / 6), long_run = run(1e-200, many);
    const double began = now();
    m.iterations = run(1e-8, 0).iterations;
    const double seconds = now() - began;
    if (turn == 0) continue;
    each.push_back((long_run.solve_seconds - short_run.solve_seconds) /
                   double(long_run.iterations - short_run.iterations));
    whole.push_back(seconds);
  }
  m.iteration = median(each), m.solve = median(whole);
  return m;
}

json as_json(const measured& m) {
  return {{"iteration", m.iteration}, {"kept_solve", m.solve}, {"set_up", m.setup}, {"iterations", m.iterations}};
}

index_t iterations_to_rounding(const coo<double>& a, const host_array<double>& b) {
  solve_options o;
  o.where = parse_device("gpu");
  o.solver = "bicgstab", o.precond = "jacobi", o.rtol = 1e-10;
  host_array<double> x(b.size(), 0.0);
  return solver<double>(coo<double>(a), o).solve(as_cview(b), as_view(x)).iterations;
}

json measure_one(const std::string& name) {
  const problem p = load(name);
  host_array<double> b(p.a.shape.rows, 0.0);
  for (index_t k = 0; k < p.a.nnz(); ++k) b[p.a.row[k]] += p.a.val[k];
  const bool symmetric = is_symmetric(p.a);
  const std::string method = symmetric ? "cg" : "bicgstab";
  const index_t many = symmetric ? 600 : iterations_to_rounding(p.a, b);
  const measured chip = measure_method(method + "_resident", p.a, b, many),
                 graph = measure_method(method, p.a, b, many);
  json stored;
  if (symmetric)
    for (const std::string precond : {"chebyshev", "block_jacobi"}) {
      const measured on_chip = measure_method("cg_resident", p.a, b, 120, precond),
                     as_graph = measure_method("cg", p.a, b, 120, precond);
      fmt::print("{:<14} {}: on the chip {:6.2f} us an iteration, a solve {:7.3f} ms of {} iterations, set-up {:6.2f} "
                 "ms | graph {:6.2f}, {:7.3f} ms, {:6.2f} ms\n",
                 name, precond, 1e6 * on_chip.iteration, 1e3 * on_chip.solve, on_chip.iterations, 1e3 * on_chip.setup,
                 1e6 * as_graph.iteration, 1e3 * as_graph.solve, 1e3 * as_graph.setup);
      stored[precond] = {{"cg_resident", as_json(on_chip)}, {"cg", as_json(as_graph)}};
    }
  double read_each = 0, blind = 0;
  if (symmetric) {
    const auto theirs = cusparse_cg(p.a, many);
    read_each = theirs.first, blind = theirs.second;
  } else {
    const auto theirs = cusparse_bicgstab(p.a, many);
    read_each = theirs.read_each, blind = theirs.blind;
  }
  fmt::print(
      "{:<14} {:7} rows: on the chip {:6.2f} us an iteration, a solve {:7.3f} ms of {} iterations, set-up {:6.2f} ms "
      "| graph {:6.2f}, {:7.3f} ms, {:6.2f} ms | cuSPARSE + cuBLAS {:6.2f} read each step, {:6.2f} blind\n",
      name, p.a.shape.rows, 1e6 * chip.iteration, 1e3 * chip.solve, chip.iterations, 1e3 * chip.setup,
      1e6 * graph.iteration, 1e3 * graph.solve, 1e3 * graph.setup, 1e6 * read_each, 1e6 * blind);
  return {{"matrix", name},
          {"rows", p.a.shape.rows},
          {"nnz", p.a.nnz()},
          {method + "_resident", as_json(chip)},
          {method, as_json(graph)},
          {"preconditioned", stored},
          {"cusparse_cublas_read_each_step", read_each},
          {"cusparse_cublas_blind", blind}};
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    const auto [file, names] =
        bench::read_request(argc, argv,
                            {"poisson3d:16", "poisson3d:24", "poisson3d:32", "poisson3d:40", "poisson3d:48",
                             "convection2d:70:20", "convection2d:100:20", "convection2d:150:20"});
    select_device(parse_device("gpu"));
    json all{
        {"device", describe(parse_device("gpu"))}, {"cublas", bench::cublas_version()}, {"results", json::array()}};
    for (const auto& name : names) all["results"].push_back(bench::measure_one(name));
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_resident: {}\n", e.what());
    return 1;
  }
}
