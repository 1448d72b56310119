// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "solve_request.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/counted.hpp"
#include "core/printable.hpp"
#include "core/processor.hpp"
#include "picture/chart.hpp"
#include "picture/thinned.hpp"
#include "report/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace furrow::cli {
namespace {

using report::bytes_a_second, report::has_residual, report::is_answer, report::sentence;

std::string method_of(const solve_report& r) { return report::method(r.solver, r.precond); }

std::string traffic_text(const solve_report& r) {
  const double rate = bytes_a_second(r);
  return line("traffic", fmt::format("{} an iteration{}", bytes_text(r.bytes_per_iteration),
                                     rate > 0 ? fmt::format(", {}/s", bytes_text(rate)) : ""));
}

std::string estimates(const solve_report& r, shape2 shape) {
  std::vector<std::string> known;
  const auto say = [&](const char* what, double n) {
    if (n > 0)
      known.push_back(std::isinf(n) ? fmt::format("{} beyond all numbers", what) : fmt::format("{} {:.1e}", what, n));
  };
  say("error of x", r.error_estimate);
  say("condition", r.condition_estimate);
  if (known.empty()) return {};
  if (const std::string by = report::estimated_by(r, shape); !by.empty()) known.push_back("by " + by);
  return line("estimate", fmt::format("{}", fmt::join(known, ", ")));
}

/// What was tried before, a line each.
std::string attempts(const solve_report& r) {
  std::string text;
  for (std::size_t k = 0; k + 1 < r.rungs.size(); ++k) {
    const solve_rung& one = r.rungs[k];
    text += line("tried", fmt::format("{} with {}, {}: {}", one.solver, one.precond,
                                      seconds_text(one.setup_seconds + one.solve_seconds), one.outcome));
  }
  if (!r.rungs.empty()) text += line("chosen", r.rungs.back().reason);
  return text;
}

/// "312,345 entries, 3.10 MB; 300,000 entries, 3.60 MB expected" of complete factors.
std::string factors_text(const solve_report& r) {
  const auto size = [](double entries, double bytes) {
    return entries > 0 ? fmt::format("{}, {}", counted_text(index_t(entries), "entry"), bytes_text(bytes))
                       : bytes_text(bytes);
  };
  std::vector<std::string> known;
  if (r.factor_entries > 0) known.push_back(size(r.factor_entries, r.factor_bytes));
  if (r.factor_bytes_expected > 0)
    known.push_back(fmt::format("{}{} expected", r.factors_at_most ? "at most " : "",
                                size(r.factor_entries_expected, r.factor_bytes_expected)));
  return known.empty() ? "" : line("factors", fmt::format("{}", fmt::join(known, "; ")));
}

/// A line for each level of a multigrid hierarchy, below a head.
std::string levels_text(const solve_report& r) {
  if (r.levels.empty()) return {};
  const auto row = [](std::string_view label, std::string_view rows, std::string_view entries, std::string_view bytes,
                      std::string_view seconds) {
    return line(label, fmt::format("{:>11}  {:>13}  {:>8}  {:>8}", rows, entries, bytes, seconds));
  };
  std::string text = row("levels", "rows", "entries", "memory", "set-up");
  for (const multigrid_level& l : r.levels)
    text += row("", count_text(l.rows), count_text(l.entries), bytes_text(l.bytes), seconds_text(l.seconds));
  return text;
}

json levels_of(const solve_report& r) {
  json list = json::array();
  for (const multigrid_level& l : r.levels) {
    list.push_back({{"rows", l.rows}, {"entries", l.entries}, {"bytes", l.bytes}, {"seconds", l.seconds}});
    for (const setup_part& p : l.parts) list.back()["parts"][p.what] = p.seconds;
  }
  return list;
}

/// On ranks with how many of them a rung was climbed by.
json rungs_of(const solve_report& r, const solve_outcome& o) {
  json list = json::array();
  for (const solve_rung& one : r.rungs) {
    list.push_back({{"solver", one.solver},
                    {"precond", one.precond},
                    {"device", describe(one.where)},
                    {"reason", one.reason},
                    {"status", name(one.why)},
                    {"outcome", one.outcome},
                    {"iterations", one.iterations},
                    {"relative_residual", number(one.relative_residual)},
                    {"seconds", {{"setup", one.setup_seconds}, {"solve", one.solve_seconds}}}});
    if (o.parts.empty()) continue;
    const bool all = o.gathered.empty() || index_t(list.size()) <= o.rungs_together;
    list.back()["ranks"] = all ? o.parts.size() : 1;
  }
  return list;
}

/// "upload 21 ms, setup 54 ms, ": what it took to send the matrix to a GPU is no part of the set-up here.
std::string setup_text(const solve_outcome& o) {
  const auto upload = std::ranges::find(o.setup_parts, "upload", &setup_part::what);
  if (upload == o.setup_parts.end()) return fmt::format("setup {}, ", seconds_text(o.setup_seconds));
  return fmt::format("upload {}, setup {}, ", seconds_text(upload->seconds),
                     seconds_text(std::max(0.0, o.setup_seconds - upload->seconds)));
}

json parts_of(const solve_outcome& o) {
  json parts = json::object();
  for (const setup_part& p : o.setup_parts) parts[p.what] = p.seconds;
  return parts;
}

std::vector<picture::point> curve_of(const std::vector<double>& history) {
  constexpr std::size_t stretches = 600;
  std::vector<picture::point> curve;
  for (const std::size_t k : picture::thinned(history, stretches)) curve.push_back({double(k), history[k]});
  return curve;
}

/// In f32 the residual is that of the rounded system.
std::string residual_text(const solve_request& request, const solve_report& r) {
  const double found = r.relative_residual;
  return fmt::format("{}   |b - A x| / |b|{}, recomputed",
                     std::isfinite(found) ? fmt::format("{:.3e}", found) : "beyond all numbers",
                     request.machine.values() == precision::f32 ? " of A and b in f32" : "");
}

} // namespace

std::string text_of(const solve_request& request, const solve_outcome& o) {
  const solve_report& r = o.report;
  std::string text = fmt::format("{}  {} x {}, {}\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), counted_text(o.nnz, "entry"));
  const std::string verdict = sentence(r.message);
  text += fmt::format("{}\n\n", is_answer(r) ? good(verdict) : bad(verdict));
  if (!o.columns.empty()) text += columns_text(o);
  if (has_residual(r)) text += line("residual", residual_text(request, r));
  if (std::isfinite(r.normal_residual))
    text += line("normal", fmt::format("{:.3e}   |A'r| / (|A| |r|), recomputed", r.normal_residual));
  if (o.error && has_residual(r)) text += line("error", fmt::format("{:.3e}   max |x - 1|; b = A * ones", *o.error));
  else if (!o.error)
    text += line("b", o.rhs == "stored"   ? "came with the matrix"
                      : o.rhs == "random" ? "A times a random vector"
                      : o.rhs == "ones"   ? "A * ones"
                                          : printable(o.rhs));
  text += line("solver", fmt::format("{}, {}{}{}", method_of(r), request.machine.precision_name,
                                     r.inner_iterations ? fmt::format(", {} in f32 inside",
                                                                      counted_text(r.inner_iterations, "iteration"))
                                                        : "",
                                     r.restarts ? ", " + counted(r.restarts, "restart") : ""));
  text += attempts(r);
  if (request.explain && !r.matrix_about.empty()) {
    text += line("matrix", r.matrix_about);
    text += line("untried", r.untried.empty() ? "nothing" : fmt::format("{}", fmt::join(r.untried, ", ")));
  }
  text += estimates(r, o.shape);
  if (!r.warning.empty()) text += line("warning", r.warning);
  if (!r.precond_about.empty()) text += line("precond", r.precond_about);
  if (!r.arranged_about.empty()) text += line("arranged", r.arranged_about);
  text += factors_text(r);
  text += levels_text(r);
  if (!r.format.empty()) text += line("format", fmt::format("{} ({}): {}", r.format, r.kernel, r.reason));
  text += line("device", request.options.where.is_gpu() ? describe(request.options.where)
                                                        : "cpu, " + counted(threads(), "thread"));
  if (!o.parts.empty()) text += ranks_text(request, o);
  text += line("time", fmt::format("read {}, {}solve {}", seconds_text(o.read_seconds), setup_text(o),
                                   seconds_text(o.solve_seconds)));
  if (r.iterations > 0) text += traffic_text(r);
  text += line("memory",
               fmt::format("{} at the peak, {} estimated", bytes_text(peak_bytes()), bytes_text(o.estimated_bytes)));
  if (!request.x0.empty()) text += line("x0", printable(request.x0));
  text += checkpoint_text(request);
  if (!request.output.empty()) text += line("x", place_text(request.output));
  if (!request.history.empty()) text += line("history", place_text(request.history));
  if (!request.plot.empty()) text += line("plot", place_text(request.plot));
  if (!request.report.empty()) text += line("report", place_text(request.report));
  return text;
}

std::string plot_of(const solve_request& request, const solve_outcome& o) {
  const solve_report& r = o.report;
  picture::axis iterations{"iteration"};
  iterations.whole = true;
  picture::chart c(fmt::format("Residual of {}, {} x {}", o.name, count_text(o.shape.rows), count_text(o.shape.cols)),
                   iterations, {"|b - A x| / |b|", picture::scale::logarithmic});
  c.remark(sentence(r.message), is_answer(r) ? picture::chart::tone::good : picture::chart::tone::bad);
  const double last = double(std::max<index_t>(r.iterations, 1));
  if (o.goal > 0) c.guide(fmt::format("goal {:.3g}", o.goal), {last, o.goal}, {0, o.goal});
  c.line(fmt::format("{}, {}", method_of(r), request.machine.precision_name), curve_of(r.history));
  if (has_residual(r) && r.relative_residual > 0)
    c.points("recomputed from x",
             {{double(r.iterations), r.relative_residual, fmt::format("{:.3e}", r.relative_residual)}});
  return c.svg();
}

std::string json_of(const solve_request& request, const solve_outcome& o) {
  const solve_report& r = o.report;
  json j;
  j["status"] = name(r.why);
  j["message"] = r.message;
  j["iterations"] = r.iterations;
  j["relative_residual"] = has_residual(r) ? number(r.relative_residual) : json(nullptr);
  j["relative_error"] = o.error && has_residual(r) ? number(*o.error) : json(nullptr);
  j["normal_residual"] = number(r.normal_residual);
  j["rows"] = o.shape.rows;
  j["cols"] = o.shape.cols;
  j["nnz"] = o.nnz;
  j["solver"] = r.solver.empty() ? request.options.solver : r.solver;
  j["precond"] = r.precond.empty() ? request.options.precond : r.precond;
  j["scale"] = r.scale;
  j["reorder"] = r.reorder;
  j["arranged"] = r.arranged_about;
  const auto count_or_null = [](double n) { return n > 0 ? json(index_t(n)) : json(nullptr); };
  j["factor_entries_expected"] = count_or_null(r.factor_entries_expected);
  j["factor_bytes_expected"] = count_or_null(r.factor_bytes_expected);
  j["factors_at_most"] = r.factors_at_most;
  j["factor_entries"] = count_or_null(r.factor_entries);
  j["factor_bytes"] = count_or_null(r.factor_bytes);
  j["condition_estimate"] = r.condition_estimate > 0 ? number(r.condition_estimate) : json(nullptr);
  j["error_estimate"] = r.error_estimate > 0 ? number(r.error_estimate) : json(nullptr);
  j["estimated_by"] = report::estimated_by(r, o.shape);
  j["warning"] = r.warning;
  j["rungs"] = rungs_of(r, o);
  j["untried"] = r.untried;
  j["matrix_is"] = r.matrix_about;
  j["format"] = r.format;
  j["kernel"] = r.kernel;
  j["precision"] = request.machine.precision_name;
  j["device"] = describe(request.options.where);
  j["threads"] = threads();
  j["seconds"] = {
      {"read", o.read_seconds}, {"setup", o.setup_seconds}, {"solve", o.solve_seconds}, {"parts", parts_of(o)}};
  j["bytes_per_iteration"] = r.bytes_per_iteration;
  j["history"] = json::array();
  for (const double residual : r.history) j["history"].push_back(number(residual));
  j["matrix"] = o.name;
  j["rhs"] = o.rhs;
  j["right_hand_sides"] = std::max<std::size_t>(o.columns.size(), 1);
  if (!o.columns.empty()) j["columns"] = columns_json(o);
  if (request.resumed) j["resumed"] = resumed_json(request);
  if (!request.checkpoint.empty()) {
    const std::string& why = request.checkpoint_failure.why;
    j["checkpoints"] = request.checkpoints;
    j["checkpoint_failure"] = why.empty() ? json(nullptr) : json(why);
  }
  if (!o.parts.empty()) j["partition"] = o.partition, j["cut"] = o.cut;
  if (!o.parts.empty()) j["ranks"] = o.parts.size(), j["parts"] = ranks_json(o);
  if (!o.parts.empty()) j["gathered"] = o.gathered;
  if (!o.way.empty()) j["ranks_talk_through"] = o.way;
  j["x0"] = !request.resume.empty() ? request.resume : request.x0.empty() ? "zero" : request.x0;
  j["reason"] = r.reason;
  j["precond_says"] = r.precond_about;
  j["levels"] = levels_of(r);
  j["restarts"] = r.restarts;
  j["inner_iterations"] = r.inner_iterations;
  j["waits"] = r.waits;
  j["rtol"] = request.options.rtol;
  j["atol"] = request.options.atol;
  j["gbps"] = bytes_a_second(r) * 1e-9;
  j["memory"] = {
      {"stored_bytes", r.stored_bytes}, {"estimated_bytes", o.estimated_bytes}, {"peak_bytes", peak_bytes()}};
  return json_text(j);
}

} // namespace furrow::cli
