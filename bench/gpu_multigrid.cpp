// SPDX-License-Identifier: BSD-3-Clause
// gpu_multigrid: conjugate gradients with amg:sa and amg:grid on a GPU, from compressed rows that lie there.
//   gpu_multigrid [--json FILE] [GENERATOR...]      default: poisson3d:100 poisson3d:200
// Set-up: the hierarchy, the first of the process and the median of the others. Solve: to 1e-8, b = A * ones, b sent
// and x fetched included. Every hierarchy is applied to b once: the results must have the same bits.
// New values, of amg:sa: the first ones, which make plans, and the median of later ones, of the hierarchy alone and of
// a solver of rows that lie on the GPU, A looked at and compared with its transpose included.
#include "measure.hpp"
#include "request.hpp"

#include "preconditioners/amg/gpu_cycle.hpp"
#include "preconditioners/amg/gpu_setup.hpp"
#include "preconditioners/amg/grid/gpu_setup.hpp"
#include "preconditioners/stored_product.hpp"

#include <furrow/device.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>

using nlohmann::json;
namespace furrow::bench {
namespace {

void wait() { (void)host_array<char>(gpu_array<char>(host_array<char>(1, 0))); }

template <class F> double seconds_of(F call) {
  wait();
  const double began = now();
  call();
  wait();
  return now() - began;
}

/// The hierarchy of rows that lie on the GPU; the box is looked for too.
amg::hierarchy<float, gpu_array> set_up(const amg::device_matrix& a, bool grid) {
  if (!grid) return amg::smoothed_aggregation_on_gpu<float>(amg::device_matrix(a));
  const amg::found_box found = amg::find_box_on_gpu(view_of(a));
  if (!found) throw std::runtime_error("no grid: the matrix " + found.failure);
  return amg::grid_hierarchy_on_gpu<float>(view_of(a), found);
}

/// 4 A.
rows_on_gpu<double> four_times(coo<double> a) {
  for (double& v : a.val) v *= 4;
  return send_rows(a);
}

struct renewal_times {
  double first, later;
  bool same_bits; ///< as a set-up's
};
/// A, 4 A, A, ... in the places of the first one; z: what a set-up gives of r.
renewal_times renew(const coo<double>& a, const gpu_array<double>& r, const host_array<double>& z, int turns) {
  const rows_on_gpu<double> one = send_rows(a), other = four_times(a);
  auto h = amg::smoothed_aggregation_on_gpu<float>(amg::copied(one));
  auto renews = std::make_unique<amg::device_renewal<float>>();
  const double first = seconds_of([&] { (void)renews->renew(one, h); });
  std::vector<double> later;
  for (int turn = 0; turn < 2 * turns; ++turn)
    later.push_back(seconds_of([&] {
      if (renews->renew(turn % 2 ? one : other, h) != amg::renewal_outcome::renewed)
        throw std::runtime_error("the hierarchy was made anew");
    }));
  const auto m = amg::multigrid_on_gpu<double, float>(std::move(h), 2, {}, nullptr);
  gpu_array<double> got(r.size());
  m->apply(as_cview(r), as_view(got));
  return {first, median(later), std::ranges::equal(host_array<double>(got), z)};
}

/// Set-up and new values of a whole solver.
std::pair<double, double> renew_solver(const coo<double>& a, device gpu, int turns) {
  const rows_on_gpu<double> one = send_rows(a), other = four_times(a);
  const auto wide = to_host(one.row_ptr);
  host_array<std::int32_t> narrow(wide.size());
  std::ranges::copy(wide, narrow.begin());
  const gpu_array<std::int32_t> row_ptr(narrow);
  const auto rows = [&](const rows_on_gpu<double>& from) {
    return csr_arrays<double, std::int32_t>{from.shape, as_cview(row_ptr), as_cview(from.col), as_cview(from.val), gpu,
                                            nullptr};
  };
  solve_options o;
  o.where = gpu;
  o.solver = "cg";
  o.precond = "amg:sa";
  std::vector<double> setups, updates;
  for (int turn = 0; turn < turns; ++turn) setups.push_back(solver<double>(rows(one), o).setup_seconds());
  solver<double> kept(rows(one), o);
  kept.update_values(rows(other)); // makes plans
  for (int turn = 0; turn < 2 * turns; ++turn) {
    kept.update_values(rows(turn % 2 ? other : one));
    updates.push_back(kept.setup_seconds());
  }
  return {median(setups), median(updates)};
}

json measure_one(const std::string& matrix, bool grid, int turns) {
  const device gpu{device::kind::gpu, 0};
  select_device(gpu);
  auto a = generate(matrix).a;
  const index_t n = a.shape.rows, entries = a.nnz();
  host_array<double> b(n, 0.0), x(n, 0.0);
  for (index_t k = 0; k < entries; ++k) b[a.row[k]] += a.val[k];
  const rows_of_triplets<double> rows(a);
  const amg::device_matrix there = amg::uploaded(rows.view());
  std::vector<double> setups, solves;
  bool same_bits = true;
  std::unique_ptr<any_preconditioner<double>> m;
  const gpu_array<double> r(b);
  gpu_array<double> z(n);
  std::vector<host_array<double>> applied;
  for (int turn = 0; turn <= turns; ++turn) {
    m.reset();
    setups.push_back(
        seconds_of([&] { m = amg::multigrid_on_gpu<double, float>(set_up(there, grid), 2, {}, nullptr); }));
    m->apply(as_cview(r), as_view(z));
    applied.emplace_back(z);
    if (turn > 0) same_bits = same_bits && std::ranges::equal(applied.front(), applied.back());
    if (turn > 0) applied.pop_back();
  }
  json update;
  if (!grid) {
    const auto [first, later, same] = renew(a, r, applied.front(), turns);
    const auto [whole, renewed] = renew_solver(a, gpu, turns);
    update = {
        {"first", first}, {"median", later}, {"same_bits", same}, {"solver", {{"setup", whole}, {"update", renewed}}}};
  }
  const auto op = in_best_format(std::move(a), gpu);
  solve_options o;
  o.where = gpu;
  o.solver = "cg";
  o.rtol = 1e-8;
  solver<double> kept(*op, m.get(), o);
  solve_report report;
  for (int turn = 0; turn <= turns; ++turn) {
    std::fill(x.begin(), x.end(), 0.0);
    solves.push_back(seconds_of([&] { report = kept.solve(as_cview(b), as_view(x)); }));
  }
  json levels = json::array();
  for (const multigrid_level& l : m->levels())
    levels.push_back({{"rows", l.rows}, {"entries", l.entries}, {"seconds", l.seconds}});
  const double first_setup = setups.front(), first_solve = solves.front();
  setups.erase(setups.begin());
  solves.erase(solves.begin());
  const char* const kind = grid ? "amg:grid" : "amg:sa";
  json result{{"matrix", matrix},
              {"precond", kind},
              {"status", name(report.why)},
              {"iterations", report.iterations},
              {"relative_residual", report.relative_residual},
              {"setup", {{"first", first_setup}, {"median", median(setups)}}},
              {"solve", {{"first", first_solve}, {"median", median(solves)}, {"iterating", report.solve_seconds}}},
              {"same_bits", same_bits},
              {"levels", levels}};
  if (!grid) result["new_values"] = update;
  fmt::print("{} {}: {} in {} iterations; set-up {:.2f} ms (first {:.2f}), solve {:.2f} ms (first {:.2f}), iterating "
             "{:.2f} ms, {} bits\n",
             matrix, kind, name(report.why), report.iterations, 1e3 * median(setups), 1e3 * first_setup,
             1e3 * median(solves), 1e3 * first_solve, 1e3 * report.solve_seconds, same_bits ? "the same" : "OTHER");
  if (!grid)
    fmt::print(
        "  new values: {:.2f} ms, {:.2f} of a set-up (the first {:.2f}), {} bits; of a solver {:.2f} ms, {:.2f} of "
        "its set-up\n",
        1e3 * update["median"].get<double>(), update["median"].get<double>() / median(setups),
        1e3 * update["first"].get<double>(), update["same_bits"].get<bool>() ? "the same" : "OTHER",
        1e3 * update["solver"]["update"].get<double>(),
        update["solver"]["update"].get<double>() / update["solver"]["setup"].get<double>());
  for (const auto& l : levels)
    fmt::print("  {:>10} rows {:>11} entries {:8.3f} ms\n", l["rows"].get<index_t>(), l["entries"].get<index_t>(),
               1e3 * l["seconds"].get<double>());
  return result;
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    const auto [file, names] = bench::read_request(argc, argv, {"poisson3d:100", "poisson3d:200"});
    json all{{"device", describe(device{device::kind::gpu, 0})}, {"results", json::array()}};
    for (const auto& matrix : names)
      for (const bool grid : {false, true}) all["results"].push_back(bench::measure_one(matrix, grid, 7));
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_multigrid: {}\n", e.what());
    return 1;
  }
}
