// SPDX-License-Identifier: BSD-3-Clause
// cpu_eigen: the product and an iteration of conjugate gradients on the CPU, Furrow and Eigen in the same run.
#include "measure.hpp"
#include "rivals/rival.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace furrow::bench {
namespace {

struct wishes {
  std::vector<std::string> matrices;
  std::string json, format = "csr";
  index_t least_nnz = 50000;
  int threads = 2, iterations = 200;
  patience turns;
  bool f32 = false, cg = true, product = true;
};

constexpr std::string_view usage =
    "cpu_eigen [--json FILE] [--threads N] [--turns N] [--iterations N] [--least-nnz N] [--format NAME] [--f32]\n"
    "          [--no-cg] [--no-product] MATRIX|FOLDER|GENERATOR...\n";

/// Words of the command line.
wishes parse(int count, char** words) {
  wishes w;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    const auto next = [&]() -> std::string { return k + 1 < count ? words[++k] : ""; };
    if (word == "--json") w.json = next();
    else if (word == "--format") w.format = next();
    else if (word == "--threads") w.threads = std::atoi(next().c_str());
    else if (word == "--turns") w.turns.clean = std::atoi(next().c_str()), w.turns.most = 4 * w.turns.clean;
    else if (word == "--iterations") w.iterations = std::atoi(next().c_str());
    else if (word == "--least-nnz") w.least_nnz = std::atoll(next().c_str());
    else if (word == "--f32") w.f32 = true;
    else if (word == "--no-cg") w.cg = false;
    else if (word == "--no-product") w.product = false;
    else if (std::filesystem::is_directory(word)) {
      for (const auto& f : std::filesystem::directory_iterator(word))
        if (f.path().string().find(".mtx") != std::string::npos) w.matrices.push_back(f.path().string());
    } else w.matrices.push_back(word);
  }
  return w;
}

struct row {
  std::string name;
  index_t rows = 0, nnz = 0;
  double product = 0, product_eigen = 0, bytes = 0, ceiling = 0; ///< seconds; 0 where not measured
  double step = 0, step_eigen = 0;

  double product_ratio() const { return product > 0 ? product_eigen / product : 0; }
  double step_ratio() const { return step > 0 ? step_eigen / step : 0; }
  double fraction() const { return product > 0 ? bytes / product / ceiling : 0; }
};

/// Eigen holding `a` and those vectors; null where this build has no Eigen.
template <class V> std::unique_ptr<rival<V>> make_eigen(const coo<V>& a, cview<V> x, view<V> y) {
  const rival_way* const way = find_rival("Eigen", "csr");
  return way ? way->make<V>()(a, x, y) : nullptr;
}

std::string eigen_version() {
  for (const auto& library : rival_libraries())
    if (library.name == "Eigen" && library.present()) return library.version();
  return "not found";
}

template <class V> void measure_product(row& r, const coo<V>& a, const wishes& w) {
  const auto chosen = choose(measure(a), precision_of<V>, device{}, w.format, "auto");
  const auto op = make<V>(chosen, device{}, coo<V>(a));
  host_array<V> x(a.shape.cols), y(a.shape.rows, V(0));
  for (index_t i = 0; i < x.size(); ++i) x[i] = V(1) + V(i % 17) / V(16);
  const auto eigen = make_eigen<V>(a, as_cview(x), as_view(y));
  std::vector<std::function<void()>> calls{[&] { op->apply(V(1), as_cview(x), V(0), as_view(y)); }};
  if (eigen) calls.push_back([&] { eigen->product(); });
  const auto best = compare(calls, w.turns, 0.003);
  r.bytes = op->bytes_per_apply();
  r.product = best[0];
  if (eigen) r.product_eigen = best[1];
  r.ceiling = read_ceiling(r.bytes);
}

/// By a solve of one step, which refuses other matrices.
template <class V> bool is_symmetric(const coo<V>& a) {
  host_array<V> b(a.shape.rows, V(1)), x(a.shape.rows, V(0));
  solve_options o;
  o.max_iterations = 1;
  try {
    solve(coo<V>(a), as_cview(b), as_view(x), o);
  } catch (const error&) {
    return false;
  }
  return true;
}

template <class V> void measure_step(row& r, const coo<V>& a, const wishes& w) {
  host_array<V> b(a.shape.rows), y(a.shape.rows);
  const auto eigen = make_eigen<V>(a, as_cview(b), as_view(y));
  for (index_t i = 0; i < b.size(); ++i) b[i] = V(1) + V(i % 29) / V(7);
  solve_options o;
  o.format = w.format;
  o.rtol = 1e-30;
  o.max_iterations = w.iterations;
  o.history = false;
  std::vector<std::function<double()>> calls{[&] {
    host_array<V> x(b.size(), V(0));
    const auto report = solve(coo<V>(a), as_cview(b), as_view(x), o);
    return report.solve_seconds / double(std::max<index_t>(report.iterations, 1));
  }};
  if (eigen) calls.push_back([&] { return eigen->iteration_seconds(b.data(), w.iterations); });
  const auto best = compare_timed(calls, w.turns);
  r.step = best[0];
  if (eigen) r.step_eigen = best[1];
}

template <class V> void measure_all(std::vector<row>& table, const wishes& w) {
  fmt::print("{:26} {:>9} {:>9} {:>9} {:>6}  {:>5} {:>5}  {:>9} {:>9} {:>6}\n", "matrix", "nnz", "spmv us", "Eigen",
             "ratio", "GB/s", "of", "CG us", "Eigen", "ratio");
  for (const auto& name : w.matrices) {
    auto p = load(name);
    if (p.a.nnz() < w.least_nnz) continue;
    row r;
    r.name = p.name;
    r.rows = p.a.shape.rows;
    r.nnz = p.a.nnz();
    const coo<V> a = convert_values<V>(std::move(p.a));
    if (w.product) measure_product<V>(r, a, w);
    if (w.cg && is_symmetric(a)) measure_step<V>(r, a, w);
    fmt::print("{:26} {:9} {:9.2f} {:9.2f} {:6.3f}  {:5.1f} {:5.2f}  {:9.2f} {:9.2f} {:6.3f}\n", r.name, r.nnz,
               r.product * 1e6, r.product_eigen * 1e6, r.product_ratio(), r.bytes / r.product * 1e-9, r.fraction(),
               r.step * 1e6, r.step_eigen * 1e6, r.step_ratio());
    std::fflush(stdout);
    table.push_back(std::move(r));
  }
}

/// Geometric mean and minimum of one column, of the rows that have it.
nlohmann::json summary(const std::vector<row>& table, double (row::*column)() const) {
  double logs = 0, worst = 1e300;
  int count = 0;
  for (const row& r : table)
    if ((r.*column)() > 0) {
      logs += std::log((r.*column)());
      worst = std::min(worst, (r.*column)());
      ++count;
    }
  if (!count) return nullptr;
  return {{"geometric_mean", std::exp(logs / count)}, {"worst", worst}, {"matrices", count}};
}

void report(const std::vector<row>& table, const wishes& w) {
  const auto product = summary(table, &row::product_ratio), step = summary(table, &row::step_ratio);
  fmt::print("product: {}\niteration: {}\n", product.dump(), step.dump());
  if (w.json.empty()) return;
  nlohmann::json all{
      {"cpu", cpu_model()},          {"threads", w.threads},
      {"compiler", FURROW_COMPILER}, {"flags", FURROW_FLAGS},
      {"eigen", eigen_version()},    {"eigen_flags", "-O3 -march=native -DNDEBUG -fopenmp"},
      {"commit", FURROW_COMMIT},     {"precision", w.f32 ? "f32" : "f64"},
      {"format", w.format},          {"iterations", w.iterations},
      {"product", product},          {"iteration", step},
  };
  for (const row& r : table)
    all["matrices"].push_back({{"name", r.name},
                               {"rows", r.rows},
                               {"nnz", r.nnz},
                               {"product_us", r.product * 1e6},
                               {"product_eigen_us", r.product_eigen * 1e6},
                               {"product_ratio", r.product_ratio()},
                               {"bytes", r.bytes},
                               {"ceiling_gbps", r.ceiling * 1e-9},
                               {"fraction", r.fraction()},
                               {"iteration_us", r.step * 1e6},
                               {"iteration_eigen_us", r.step_eigen * 1e6},
                               {"iteration_ratio", r.step_ratio()}});
  std::ofstream(w.json) << all.dump(1) << '\n';
}

} // namespace
} // namespace furrow::bench

int main(int count, char** words) {
  using namespace furrow;
  using namespace furrow::bench;
  try {
    wishes w = parse(count, words);
    if (w.matrices.empty()) {
      fmt::print("{}", usage);
      return 2;
    }
    std::sort(w.matrices.begin(), w.matrices.end());
    set_threads(w.threads);
    std::vector<row> table;
    if (w.f32) measure_all<float>(table, w);
    else measure_all<double>(table, w);
    std::sort(table.begin(), table.end(), [](const row& a, const row& b) { return a.nnz < b.nnz; });
    report(table, w);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 3;
  }
}
