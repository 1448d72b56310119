// SPDX-License-Identifier: BSD-3-Clause
// gpu_krylov: an iteration of bicgstab and of gmres on a GPU beside loops of cuSPARSE and cuBLAS calls, in one run.
//   gpu_krylov [--json FILE] [SPEC_OR_FILE[*COPIES]...]      default: convection2d:1000:20
// b = A * ones, no preconditioner. COPIES puts a matrix that often on the diagonal of a larger one. An iteration is
// what more of them cost, a long run less a short one: what happens once does not count. `cupy_krylov.py` adds CuPy.
#include "cusparse_cg.hpp"
#include "cusparse_krylov.hpp"
#include "measure.hpp"
#include "request.hpp"

#include "furrow/bench/spmv/copies.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr int turns = 7, restart = 30;

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

problem load_many(const std::string& name) {
  const auto star = name.find('*');
  problem p = load(name.substr(0, star));
  if (star != std::string::npos) p.a = cli::spmv_bench::on_diagonal(p.a, std::stol(name.substr(star + 1)));
  p.name = name;
  return p;
}

struct measured {
  double seconds = 0, bytes = 0, waits = 0;
};

/// How many iterations a run may take until the residual is rounding: beyond it nothing is iterated.
index_t iterations_to_rounding(const any_operator<double>& a, solve_options o, cview<double> b) {
  host_array<double> x(a.shape().rows, 0.0);
  o.rtol = 1e-10;
  o.max_iterations = 300;
  return solver<double>(a, nullptr, o).solve(b, as_view(x)).iterations;
}

measured furrow_iteration(const any_operator<double>& a, const std::string& name, index_t iterations, cview<double> b) {
  solve_options o;
  o.where = parse_device("gpu");
  o.solver = name;
  o.rtol = 1e-200;
  host_array<double> x(a.shape().rows, 0.0);
  solver<double> kept(a, nullptr, o);
  const auto run = [&](index_t n) {
    o.max_iterations = n;
    kept.set_limits(o);
    std::fill(x.begin(), x.end(), 0.0);
    return kept.solve(b, as_view(x));
  };
  measured m;
  std::vector<double> each;
  for (int turn = 0; turn <= turns; ++turn) {
    const auto few = run(iterations / 5), many = run(iterations);
    const auto more = double(many.iterations - few.iterations);
    if (turn > 0) each.push_back((many.solve_seconds - few.solve_seconds) / more);
    m.bytes = many.bytes_per_iteration;
    m.waits = double(many.waits - few.waits) / more;
  }
  m.seconds = median(each);
  return m;
}

json measure_one(const std::string& name) {
  problem p = load_many(name);
  host_array<double> b(p.a.shape.rows, 0.0);
  for (index_t k = 0; k < p.a.nnz(); ++k) b[p.a.row[k]] += p.a.val[k];
  matrix_options m;
  m.where = parse_device("gpu");
  const matrix<double> stored(coo<double>(p.a), m);
  fmt::print("{}: {} rows, {} entries, {}\n", name, p.a.shape.rows, p.a.nnz(), stored.chosen().format->name);
  json result{{"matrix", name},
              {"rows", p.a.shape.rows},
              {"nnz", p.a.nnz()},
              {"format", std::string(stored.chosen().format->name)}};
  for (const auto& [method, key] : std::initializer_list<std::pair<std::string, const char*>>{
           {"bicgstab", "bicgstab"}, {"gmres:30", "gmres"}, {"gmres:30:basis=f32", "gmres_basis_f32"}}) {
    solve_options o;
    o.where = m.where;
    o.solver = method;
    const index_t iterations = std::max<index_t>(5, iterations_to_rounding(*stored.op(), o, as_cview(b)) / 5 * 5);
    const measured ours = furrow_iteration(*stored.op(), method, iterations, as_cview(b));
    std::vector<double> read_each, blind;
    for (int turn = 0; turn < 3; ++turn) {
      const auto theirs =
          method.starts_with("gmres") ? cusparse_gmres(p.a, restart, iterations) : cusparse_bicgstab(p.a, iterations);
      read_each.push_back(theirs.read_each);
      blind.push_back(theirs.blind);
    }
    fmt::print("  {:<18} {:4} iterations: furrow {:8.2f} us, {:.3f} waits an iteration | cuSPARSE + cuBLAS {:8.2f} us "
               "read each step, "
               "{:8.2f} blind | {:.2f} and {:.2f} times as fast\n",
               method, iterations, 1e6 * ours.seconds, ours.waits, 1e6 * median(read_each), 1e6 * median(blind),
               median(read_each) / ours.seconds, median(blind) / ours.seconds);
    result[key] = {{"iterations", iterations},
                   {"furrow", ours.seconds},
                   {"bytes_per_iteration", ours.bytes},
                   {"waits_per_iteration", ours.waits},
                   {"cusparse_cublas_read_each_step", median(read_each)},
                   {"cusparse_cublas_blind", median(blind)}};
  }
  return result;
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    const auto [file, names] = bench::read_request(argc, argv, {"convection2d:1000:20"});
    select_device(parse_device("gpu"));
    json all{{"device", describe(parse_device("gpu"))},
             {"cublas", bench::cublas_version()},
             {"restart", bench::restart},
             {"results", json::array()}};
    for (const auto& name : names) all["results"].push_back(bench::measure_one(name));
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_krylov: {}\n", e.what());
    return 1;
  }
}
