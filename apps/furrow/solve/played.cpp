// SPDX-License-Identifier: BSD-3-Clause
#include "played.hpp"
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "played_text.hpp"
#include "system.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"
#include "formats/played.hpp"
#include "picture/lanes.hpp"
#include "report/words.hpp"
#include "solvers/cg_tutorial/played.hpp"
#include "tune/row_error.hpp"

#include <furrow/stats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::cli {
namespace {

/// What a played solve has no use for.
void check_request(const solve_request& q) {
  const solve_options& o = q.options;
  check(o.solver == "cg_tutorial", fault::usage,
        "--device play: of the solvers the tutorial's is played, not {}: add --solver cg_tutorial", o.solver);
  check(o.precond == "auto" || o.precond == "none", fault::usage,
        "--device play: the tutorial's method has no preconditioner, not {}: leave --precond out", o.precond);
  check(o.scale == "none" && o.reorder == "none", fault::usage,
        "--device play: the tutorial's method takes the rows as they stand: leave {} out",
        o.scale != "none" ? "--scale" : "--reorder");
  check(!o.tune, fault::usage, "--tune measures, and a kernel that is played has no speed: name it with --kernel");
  check(std::isinf(o.expected_products), fault::usage,
        "--applies helps to choose, and a kernel that is played is named: leave --applies out");
  check(!q.explain && !o.assume_symmetric, fault::usage, "--device play: the tutorial's method {}: leave {} out",
        q.explain ? "is chosen by its name" : "asks for symmetry", q.explain ? "--explain" : "--assume-symmetric");
  check(q.checkpoint.empty() && q.resume.empty(), fault::usage, "--device play: it keeps no checkpoints: leave {} out",
        q.checkpoint.empty() ? "--resume" : "--checkpoint");
  check(q.coordinates.empty() && q.history.empty() && q.plot.empty() && q.report.empty(), fault::usage,
        "--device play: it writes x with -o and a picture with --trace: leave {} out",
        !q.coordinates.empty() ? "--coordinates"
        : !q.history.empty()   ? "--history"
        : !q.plot.empty()      ? "--plot"
                               : "--report");
}

template <class V> struct played_vectors {
  host_array<V> b, x;
  bool ones = false; ///< b = A * ones
};

template <class V> played_vectors<V> vectors_of(const solve_request& q, const problem& p) {
  played_vectors<V> v;
  const auto narrow = [](const host_array<double>& from) {
    host_array<V> to(from.size());
    std::ranges::transform(from, to.begin(), [](double one) { return static_cast<V>(one); });
    return to;
  };
  v.ones = q.rhs.empty() && !p.b;
  v.b = v.ones          ? narrow(product_with_ones(p))
        : q.rhs.empty() ? narrow(*p.b)
                        : read_vector_for<V>(q.rhs, "-b", p.a.shape.rows, "row");
  v.x = q.x0.empty() ? host_array<V>(p.a.shape.cols, V(0)) : read_vector_for<V>(q.x0, "--x0", p.a.shape.cols, "column");
  return v;
}

std::string text_of(const solve_request& q, const problem& p, const played_solve& done, const play::settings& how,
                    const std::optional<double>& off) {
  const solve_report& r = done.report;
  const std::string verdict = report::sentence(r.message);
  std::string text = fmt::format("{}  {} x {}, {}\n{}\n", bold(printable(p.name)), count_text(p.a.shape.rows),
                                 count_text(p.a.shape.cols), counted_text(p.a.nnz(), "entry"),
                                 report::is_answer(r) ? good(verdict) : bad(verdict));
  text += fmt::format("played on the CPU, {}, {}\n\n", q.machine.precision_name, order_text(how));
  text += line("residual", fmt::format("{:.3e}   |b - A x| / |b|{}, recomputed", r.relative_residual,
                                       q.machine.values() == precision::f32 ? " of A and b in f32" : ""));
  if (off) text += line("error", fmt::format("{:.3e}   max |x - 1|; b = A * ones", *off));
  text += line("waits", fmt::format("{} of the host for the device, of {}", count_text(r.waits),
                                    counted_text(r.iterations, "iteration")));
  text += "\n";
  for (const auto& k : done.kernels) {
    text += fmt::format("  {} of\n", counted_text(k.launches, "launch"));
    text += table_of(k.sum);
  }
  if (!q.trace.empty()) text += "\n" + line("picture", place_text(q.trace));
  if (!q.output.empty()) text += line("x", place_text(q.output));
  return text;
}

std::string json_of(const solve_request& q, const problem& p, const played_solve& done, const play::settings& how,
                    const std::optional<double>& off) {
  const solve_report& r = done.report;
  json j{{"matrix", p.name},
         {"rows", p.a.shape.rows},
         {"nnz", p.a.nnz()},
         {"device", "play"},
         {"precision", q.machine.precision_name},
         {"solver", r.solver},
         {"precond", r.precond},
         {"format", r.format},
         {"kernel", r.kernel},
         {"status", name(r.why)},
         {"message", r.message},
         {"iterations", r.iterations},
         {"relative_residual", number(r.relative_residual)},
         {"waits", r.waits}};
  if (off) j["max_error"] = number(*off);
  add_settings(j, how);
  j["kernels"] = json::array();
  for (const auto& k : done.kernels) {
    json one = cli::json_of(k.sum);
    one["launches"] = k.launches;
    j["kernels"].push_back(std::move(one));
  }
  return json_text(j);
}

template <class V> int play_in(const solve_request& q, const problem& p, const play::settings& how) {
  const coo<V> a = convert_values<V>(coo<double>(p.a));
  auto v = vectors_of<V>(q, p);
  const bool plain = q.options.format == "auto" && q.options.kernel == "auto";
  const played_solve done = play_cg<V>(a, as_cview(v.b), as_view(v.x), plain ? "csr" : q.options.format,
                                       plain ? "half_warp" : q.options.kernel, q.options, how);
  std::optional<double> off;
  if (v.ones) {
    off = 0;
    for (const V one : v.x) off = std::max(*off, std::abs(double(one) - 1));
  }
  if (!q.output.empty()) write_answer(v.x, q.output);
  if (!q.trace.empty())
    write_file(q.trace, picture::lanes(done.kernels.front().sum,
                                       fmt::format("{}: {} of cg_tutorial", p.name, done.kernels.front().sum.kernel)));
  if (q.json) print(json_of(q, p, done, how, off));
  else print_beside({q.output, q.trace}, text_of(q, p, done, how, off));
  for (const auto& k : done.kernels)
    if (!k.sum.faults.empty()) throw error(fault::internal, k.sum.faults.front());
  return code_of(done.report.why, true);
}

} // namespace

int run_played(const solve_request& q) {
  check_request(q);
  const play::settings how = parse_play(q.play, q.trace);
  play::find_played(name_before_colon(q.options.format), q.options.kernel);
  const matrix_input input(q.file);
  constexpr index_t most = 200'000; // entries: a hundred products of as many take a minute
  const index_t entries = expected_stats(input.header()).nnz;
  check(entries <= most, fault::usage,
        "{}: has {}, and a solve is played for up to {}: play a smaller matrix of its kind", q.file,
        counted_text(entries, "entry"), count_text(most));
  const problem p = input.load();
  return q.machine.values() == precision::f32 ? play_in<float>(q, p, how) : play_in<double>(q, p, how);
}

} // namespace furrow::cli
