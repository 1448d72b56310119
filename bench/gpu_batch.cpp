// SPDX-License-Identifier: BSD-3-Clause
// gpu_batch: many small systems in one launch beside the same ones one by one on the GPU, and side by side on the CPU,
// in one run.
//   gpu_batch [--json FILE] [COUNTxROWS...]      default: 1000x100 1000x500 1000x2000 10000x500
// Systems of their own values: a grid of two dimensions whose edges have random weights (cg), the same with a random
// flow (bicgstab); b random, Jacobi, to 1e-8. Whole calls: look, copy, solve, bring home; the median of the turns.
#include "measure.hpp"
#include "request.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr int turns = 7;

/// Compressed rows with a right-hand side of its own.
template <class V> struct small_system {
  shape2 shape;
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<V> val, b, x;
};

/// A grid of `rows` points, `side` in a line; `flow` above 0: not symmetric.
template <class V> small_system<V> make_system(index_t rows, double flow, unsigned seed) {
  std::minstd_rand random(seed + 1);
  const auto draw = [&](double low, double high) {
    return low + (high - low) * double(random() % 1'000'000) / 1'000'000;
  };
  const auto side = std::max<index_t>(1, static_cast<index_t>(std::sqrt(double(rows))));
  const auto n = static_cast<std::size_t>(rows);
  std::vector<double> right(n), down(n); // weights of the edges of a point
  for (auto& w : right) w = draw(0.5, 2);
  for (auto& w : down) w = draw(0.5, 2);
  small_system<V> s;
  s.shape = {rows, rows};
  for (index_t i = 0; i < rows; ++i) {
    double diagonal = 0.01;
    const auto add = [&](index_t j, double weight, double sign) {
      diagonal += weight;
      s.col.push_back(static_cast<std::int32_t>(j)), s.val.push_back(V(-weight + sign * flow));
    };
    if (i >= side) add(i - side, down[std::size_t(i - side)], -1);
    if (i % side > 0) add(i - 1, right[std::size_t(i - 1)], -1);
    const std::size_t at = s.val.size();
    s.col.push_back(static_cast<std::int32_t>(i)), s.val.push_back(V(0));
    if (i % side + 1 < side && i + 1 < rows) add(i + 1, right[std::size_t(i)], 1);
    if (i + side < rows) add(i + side, down[std::size_t(i)], 1);
    s.val[at] = V(diagonal);
    s.row_ptr.push_back(static_cast<std::int32_t>(s.col.size()));
    s.b.push_back(V(draw(-1, 1)));
  }
  s.x.assign(std::size_t(rows), V(0));
  return s;
}

template <class V> struct measured {
  double seconds = 0, setup = 0, solve = 0;
  index_t converged = 0, iterations = 0, launched = 0;
  std::vector<V> x; ///< of the last system
};

template <class V> std::vector<batch_system<V, std::int32_t>> borrow(std::vector<small_system<V>>& all) {
  std::vector<batch_system<V, std::int32_t>> borrowed;
  for (auto& s : all) {
    std::ranges::fill(s.x, V(0));
    borrowed.push_back({{s.shape, s.row_ptr, s.col, s.val}, s.b, s.x});
  }
  return borrowed;
}

template <class V> void take_up(measured<V>& m, const solve_report& r) {
  m.converged += r.why == status::converged, m.iterations += r.iterations;
  m.setup += r.setup_seconds, m.solve += r.solve_seconds;
}

template <class V> measured<V> measure_batch(std::vector<small_system<V>>& all, const solve_options& o) {
  measured<V> m;
  std::vector<double> seconds;
  for (int turn = 0; turn <= turns; ++turn) {
    const auto systems = borrow(all);
    const double began = now();
    const auto outcomes = solve_batch<V, std::int32_t>(systems, o);
    if (turn > 0) seconds.push_back(now() - began);
    m = {};
    for (const batch_outcome& one : outcomes) {
      take_up(m, one.report);
      m.launched += one.way == "in one launch with others";
    }
  }
  m.seconds = median(seconds);
  m.x = all.back().x;
  return m;
}

/// One turn: it takes seconds.
template <class V> measured<V> measure_one_by_one(std::vector<small_system<V>>& all, const solve_options& o) {
  measured<V> m;
  const auto systems = borrow(all);
  for (const bool warm : {false, true}) {
    const double began = now();
    m = {};
    for (std::size_t k = 0; k < (warm ? systems.size() : std::min<std::size_t>(systems.size(), 20)); ++k) {
      std::ranges::fill(all[k].x, V(0));
      take_up(m, solver<V>(systems[k].a, o).solve(systems[k].b, systems[k].x));
    }
    m.seconds = now() - began;
  }
  m.x = all.back().x;
  return m;
}

template <class V> json measure_one(index_t count, index_t rows, const std::string& method) {
  std::vector<small_system<V>> all;
  for (index_t k = 0; k < count; ++k)
    all.push_back(make_system<V>(rows, method == "cg" ? 0 : 0.4, static_cast<unsigned>(k)));
  solve_options o;
  o.solver = method, o.precond = "jacobi", o.rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
  const auto there = parse_device("gpu");
  o.where = there;
  const auto batch = measure_batch(all, o);
  const index_t few = std::min<index_t>(count, 1000);
  std::vector<small_system<V>> some(all.begin(), all.begin() + few);
  const auto alone = measure_one_by_one(some, o);
  o.where = {};
  const auto cpu = measure_batch(all, o);
  const double one_by_one = alone.seconds * double(count) / double(few);
  fmt::print(
      "{:>6} x {:>5} {:<8} {}: a launch {:9.3f} ms (set-up {:8.3f}, solve {:8.3f}), {} of {} in a launch, {} "
      "converged, {:.1f} iterations | one by one {:9.1f} ms, {:6.1f} times as long | CPU, {} threads {:9.1f} ms, "
      "{:5.1f} times\n",
      count, rows, method, sizeof(V) == 8 ? "f64" : "f32", 1e3 * batch.seconds, 1e3 * batch.setup, 1e3 * batch.solve,
      batch.launched, count, batch.converged, double(batch.iterations) / double(count), 1e3 * one_by_one,
      one_by_one / batch.seconds, threads(), 1e3 * cpu.seconds, cpu.seconds / batch.seconds);
  const auto as_json = [](const measured<V>& m, double seconds) {
    return json{{"seconds", seconds},       {"set_up", m.setup},          {"solve", m.solve},
                {"converged", m.converged}, {"iterations", m.iterations}, {"in_a_launch", m.launched}};
  };
  return {{"systems", count},
          {"rows", rows},
          {"entries", all.front().val.size()},
          {"solver", method},
          {"precision", sizeof(V) == 8 ? "f64" : "f32"},
          {"launch", as_json(batch, batch.seconds)},
          {"one_by_one", as_json(alone, one_by_one)},
          {"one_by_one_systems", few},
          {"cpu", as_json(cpu, cpu.seconds)},
          {"times_one_by_one", one_by_one / batch.seconds}};
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    const auto [file, names] = bench::read_request(argc, argv, {"1000x100", "1000x500", "1000x2000", "10000x500"});
    select_device(parse_device("gpu"));
    json all{{"device", describe(parse_device("gpu"))}, {"threads", threads()}, {"results", json::array()}};
    for (const auto& name : names) {
      const auto cross = name.find('x');
      check(cross != std::string::npos, fault::usage, "name systems as COUNTxROWS");
      const index_t count = std::atoll(name.c_str()), rows = std::atoll(name.c_str() + cross + 1);
      check(count > 0 && rows > 0, fault::usage, "name systems as COUNTxROWS");
      for (const char* method : {"cg", "bicgstab"}) {
        all["results"].push_back(bench::measure_one<double>(count, rows, method));
        all["results"].push_back(bench::measure_one<float>(count, rows, method));
      }
    }
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_batch: {}\n", e.what());
    return 1;
  }
}
