// SPDX-License-Identifier: BSD-3-Clause
// block_cg: eight right-hand sides at once beside as many solves of cg, with Jacobi, to 1e-8, in one run.
//   block_cg [--device cpu|gpu] [--json FILE] SPEC_OR_FILE...
// The right-hand sides are A times random vectors. Both are kept solvers with vectors in host memory, and take turns;
// seconds are those of whole calls, the median of the turns. On the CPU as many threads as FURROW_THREADS says.
#include "measure.hpp"
#include "request.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr index_t columns = 8;
constexpr int turns = 5;

/// A times columns of numbers from [-1, 1).
host_array<double> right_hand_sides(const coo<double>& a) {
  const index_t n = a.shape.rows;
  host_array<double> x(n * columns), b(n * columns, 0.0);
  std::uint64_t state = 1;
  for (double& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = double(state >> 11) / double(std::uint64_t(1) << 52) - 1;
  }
  for (index_t j = 0; j < columns; ++j)
    for (index_t k = 0; k < a.nnz(); ++k) b[j * n + a.row[k]] += a.val[k] * x[j * n + a.col[k]];
  return b;
}

struct contender {
  solver<double> kept;
  std::vector<double> seconds;
  index_t iterations = 0; ///< most of a column
  double residual = 0;

  void run(const host_array<double>& b) {
    host_array<double> x(b.size(), 0.0);
    const double began = now();
    const auto reports = kept.solve(as_cview(b), as_view(x), columns);
    seconds.push_back(now() - began);
    iterations = 0, residual = 0;
    for (const solve_report& r : reports) {
      if (r.why != status::converged) throw std::runtime_error("a column did not converge: " + r.message);
      iterations = std::max(iterations, r.iterations);
      residual = std::max(residual, r.relative_residual);
    }
  }
};

json measure_one(const std::string& name, device where) {
  const coo<double> a = load(name).a;
  const host_array<double> b = right_hand_sides(a);
  const auto make = [&](const char* method) {
    solve_options o;
    o.solver = method, o.precond = "jacobi", o.where = where, o.history = false;
    return contender{solver<double>(a, o), {}};
  };
  contender block = make("block_cg"), single = make("cg");
  for (int turn = 0; turn <= turns; ++turn) block.run(b), single.run(b);
  for (contender* const c : {&block, &single}) c->seconds.erase(c->seconds.begin()); // the first one warms up
  const double at_once = median(block.seconds), one_by_one = median(single.seconds);
  fmt::print("{}: {} rows, {} entries\n  block_cg {:9.2f} ms, {} iterations, residuals to {:.1e}\n"
             "  cg {:15.2f} ms, {} iterations, residuals to {:.1e}\n  {:.3f} of eight solves\n",
             name, a.shape.rows, a.nnz(), 1e3 * at_once, block.iterations, block.residual, 1e3 * one_by_one,
             single.iterations, single.residual, at_once / one_by_one);
  const std::string_view whole = name;
  return {{"matrix", whole.substr(whole.rfind('/') + 1)},
          {"rows", a.shape.rows},
          {"entries", a.nnz()},
          {"columns", columns},
          {"block_cg", {{"seconds", at_once}, {"iterations", block.iterations}, {"residual", block.residual}}},
          {"cg", {{"seconds", one_by_one}, {"iterations", single.iterations}, {"residual", single.residual}}},
          {"share", at_once / one_by_one}};
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    auto [file, names] = bench::read_request(argc, argv, {"elasticity3d:24"});
    device where;
    if (const auto at = std::ranges::find(names, "--device"); at != names.end()) {
      if (at + 1 == names.end()) throw std::runtime_error("--device wants cpu or gpu");
      where = parse_device(*(at + 1));
      names.erase(at, at + 2);
      if (names.empty()) names = {"elasticity3d:24"};
    }
    select_device(where);
    json all{{"device", where.is_gpu() ? describe(where) : bench::cpu_model()},
             {"threads", where.is_gpu() ? 0 : threads()},
             {"precond", "jacobi"},
             {"rtol", 1e-8},
             {"results", json::array()}};
    for (const auto& name : names) all["results"].push_back(bench::measure_one(name, where));
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "block_cg: {}\n", e.what());
    return 1;
  }
}
