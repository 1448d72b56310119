// SPDX-License-Identifier: BSD-3-Clause
// Furrow's products and conjugate gradients beside cuSPARSE and cuBLAS, in one run on one GPU. Rivals in their best
// mode: preprocessed products; a CG loop with scalars on the device, read each step, and the same as a CUDA graph
// without checks.
//   gpu_cusparse [--json FILE] [--only products|cg] [--kernel NAME] SPEC_OR_FILE...
#include "cusparse_cg.hpp"
#include "rivals/rival.hpp"

#include "tune/ceiling.hpp"
#include "tune/steady.hpp"

#include <furrow/furrow.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace furrow;
using nlohmann::json;

double median_seconds(const std::function<void()>& product) {
  return time_steadily(product, parse_device("gpu"), {25, 0, nullptr}).median;
}

std::string versions() {
  std::string text = "cuBLAS " + bench::cublas_version();
  for (const auto& library : bench::rival_libraries())
    if (library.where == device::kind::gpu && library.present())
      text = std::string(library.name) + " " + library.version() + ", " + text;
  return text;
}

template <class V> json time_products(const coo<V>& a, const stats& s, double ceiling, const std::string& only_kernel) {
  json rows = json::array();
  const double minimal = bytes_per_apply(find_format("csr").lay_out(s, precision_of<V>, {}), s, precision_of<V>);
  host_array<V> ones(a.shape.cols, V(1));
  for (index_t i = 0; i < ones.size(); ++i) ones[i] = V(1) + V(i % 1000) / V(1000);
  gpu_array<V> x(ones), y(a.shape.rows);
  const auto report = [&](const std::string& who, const std::string& kernel, double seconds, double bytes) {
    std::printf("  %-9s %-10s %s %10.2f us  %7.1f GFLOP/s  %6.3f of the ceiling (own bytes) %6.3f (csr bytes)\n",
                who.c_str(), kernel.c_str(), sizeof(V) == 8 ? "f64" : "f32", seconds * 1e6,
                2e-9 * double(s.nnz) / seconds, bytes / seconds / ceiling, minimal / seconds / ceiling);
    rows.push_back({{"library", who},
                    {"kernel", kernel},
                    {"precision", sizeof(V) == 8 ? "f64" : "f32"},
                    {"seconds", seconds},
                    {"fraction", bytes / seconds / ceiling}});
  };
  for (const auto* f : formats()) {
    const layout l = f->lay_out(s, precision_of<V>, {});
    if (!l.refusal.empty()) continue;
    for (const auto& k : f->gpu.kernels) {
      if (!only_kernel.empty() && k.name != only_kernel) continue;
      const auto op = f->gpu.make<V>()(coo<V>(a), {}, k.name);
      const double seconds = median_seconds([&] { op->apply(V(1), as_cview(x), V(0), as_view(y)); });
      report("furrow", std::string(f->name) + "/" + op->kernel(), seconds, op->bytes_per_apply());
    }
  }
  for (const auto& library : bench::rival_libraries())
    for (const auto& way : library.ways) {
      if (library.where != device::kind::gpu) continue;
      try {
        const auto rival = way.make<V>()(a, as_cview(x), as_view(y));
        report(std::string(library.name), std::string(way.name), median_seconds([&] { rival->product(); }), minimal);
      } catch (const error& e) {
        std::printf("  %s %s left out: %s\n", library.name.data(), way.name.data(), e.what());
      }
    }
  return rows;
}

/// Seconds an iteration: the difference of a long and a short run, so that what happens once does not count.
double furrow_cg_seconds(const coo<double>& a, const std::string& precond, index_t iterations, double& bytes) {
  const host_array<double> b(a.shape.rows, 1.0);
  solve_options o;
  o.where = parse_device("gpu");
  o.precond = precond;
  o.rtol = 1e-200;
  const auto run = [&](index_t n) {
    host_array<double> x(a.shape.rows, 0.0);
    o.max_iterations = n;
    const auto report = solve(coo<double>(a), as_cview(b), as_view(x), o);
    bytes = report.bytes_per_iteration;
    if (report.iterations != n)
      std::printf("  (stopped after %ld: %s)\n", long(report.iterations), report.message.c_str());
    return report.solve_seconds;
  };
  run(iterations / 5);
  std::vector<double> each;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double shorter = run(iterations / 5);
    each.push_back((run(iterations) - shorter) / double(iterations - iterations / 5));
  }
  std::sort(each.begin(), each.end());
  return each[1];
}

json time_cg(const coo<double>& a, double ceiling) {
  const index_t iterations = a.nnz() > 10'000'000 ? 200 : 500;
  double bytes = 0, bytes_jacobi = 0;
  const double none = furrow_cg_seconds(a, "none", iterations, bytes);
  const double jacobi = furrow_cg_seconds(a, "jacobi", iterations, bytes_jacobi);
  const auto [read_each, graph] = bench::cusparse_cg(a, iterations);
  std::printf(
      "  CG us/iteration: furrow none %.2f (floor %.2f), jacobi %.2f | cuSPARSE+cuBLAS read each step %.2f, graph "
      "without checks %.2f | ratio %.3f, %.3f\n",
      none * 1e6, bytes / ceiling * 1e6, jacobi * 1e6, read_each * 1e6, graph * 1e6, none / read_each, none / graph);
  return {{"furrow_none", none},
          {"furrow_jacobi", jacobi},
          {"bytes_per_iteration", bytes},
          {"cusparse_cublas_read_each_step", read_each},
          {"cusparse_cublas_graph_no_check", graph}};
}

} // namespace

int main(int argc, char** argv) {
  try {
    std::string out, only, kernel;
    json result;
    const device gpu = parse_device("gpu");
    select_device(gpu);
    const auto status = inspect_gpus();
    const double ceiling = measure_read_ceiling(gpu);
    result["device"] = status.gpus[0].name;
    result["driver"] = status.driver_version;
    result["runtime"] = status.runtime_version;
    result["rivals"] = versions();
    result["version"] = version;
    if (const char* commit = std::getenv("FURROW_COMMIT")) result["commit"] = commit;
    result["ceiling_gbps"] = ceiling * 1e-9;
    std::printf("%s, read ceiling %.0f GB/s, %s\n", status.gpus[0].name.c_str(), ceiling * 1e-9, versions().c_str());
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      if (arg == "--json" && i + 1 < argc) {
        out = argv[++i];
        continue;
      }
      if (arg == "--only" && i + 1 < argc) {
        only = argv[++i];
        continue;
      }
      if (arg == "--kernel" && i + 1 < argc) {
        kernel = argv[++i];
        continue;
      }
      problem p = load(arg);
      const stats s = measure(p.a);
      std::printf("%s: %ld rows, %ld entries\n", p.name.c_str(), long(s.shape.rows), long(s.nnz));
      json m{{"matrix", p.name}, {"rows", s.shape.rows}, {"nnz", s.nnz}};
      if (only != "cg") {
        m["products"] = time_products(p.a, s, ceiling, kernel);
        coo<double> copy = p.a;
        const auto single = time_products(convert_values<float>(std::move(copy)), s, ceiling, kernel);
        m["products"].insert(m["products"].end(), single.begin(), single.end());
      }
      if (only != "products" && s.shape.rows == s.shape.cols) m["cg"] = time_cg(p.a, ceiling);
      result["matrices"].push_back(m);
    }
    if (!out.empty()) std::ofstream(out) << result.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_cusparse: %s\n", e.what());
    return 4;
  }
}
