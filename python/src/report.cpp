// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"
#include "matrix.hpp"

#include "report/words.hpp"

#include <furrow/report.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>

namespace furrow::python {
namespace {

/// Names of the fields that go into a dictionary as they are.
template <class Report, class F> void each_field(Report& r, F f) {
  f("message", r.message), f("iterations", r.iterations), f("restarts", r.restarts), f("waits", r.waits);
  f("inner_iterations", r.inner_iterations);
  f("relative_residual", r.relative_residual), f("normal_residual", r.normal_residual);
  f("condition_estimate", r.condition_estimate), f("error_estimate", r.error_estimate), f("warning", r.warning);
  f("smallest_ritz", r.smallest_ritz), f("largest_ritz", r.largest_ritz), f("product_bytes", r.product_bytes);
  f("setup_seconds", r.setup_seconds), f("solve_seconds", r.solve_seconds);
  f("bytes_per_iteration", r.bytes_per_iteration), f("stored_bytes", r.stored_bytes);
  f("solver", r.solver), f("precond", r.precond), f("precond_says", r.precond_about);
  f("format", r.format), f("kernel", r.kernel), f("reason", r.reason);
  f("matrix_is", r.matrix_about), f("untried", r.untried);
  f("scale", r.scale), f("reorder", r.reorder), f("arranged", r.arranged_about);
  f("factor_entries_expected", r.factor_entries_expected), f("factor_bytes_expected", r.factor_bytes_expected);
  f("factor_entries", r.factor_entries), f("factor_bytes", r.factor_bytes), f("factors_at_most", r.factors_at_most);
}
template <class Rung, class F> void each_field_of_rung(Rung& r, F f) {
  f("solver", r.solver), f("precond", r.precond), f("reason", r.reason), f("outcome", r.outcome);
  f("iterations", r.iterations), f("relative_residual", r.relative_residual);
}
template <class Level, class F> void each_field_of_level(Level& l, F f) {
  f("rows", l.rows), f("entries", l.entries), f("bytes", l.bytes), f("seconds", l.seconds);
}

auto writer(nb::dict& d) {
  return [&d](const char* key, const auto& value) { d[key] = nb::cast(value); };
}
auto reader(const nb::dict& d) {
  return [&d]<class T>(const char* key, T& value) { value = nb::cast<T>(d[key]); };
}

status status_of(const std::string& word) {
  constexpr std::array all{status::converged,    status::max_iterations, status::not_positive_definite,
                           status::singular,     status::breakdown,      status::nan,
                           status::stagnated,    status::diverged,       status::interrupted,
                           status::least_squares};
  const auto* const found = std::ranges::find(all, word, [](status s) { return name(s); });
  if (found == all.end()) throw nb::value_error(("there is no status " + word).c_str());
  return *found;
}

nb::dict dict_of_rung(const solve_rung& r) {
  nb::dict d, seconds;
  each_field_of_rung(r, writer(d));
  d["device"] = describe(r.where), d["status"] = std::string(name(r.why));
  seconds["setup"] = r.setup_seconds, seconds["solve"] = r.solve_seconds;
  d["seconds"] = seconds;
  return d;
}
/// The device that `describe` wrote. It may be of another machine: this one is not asked whether it has it.
device device_of(const std::string& said) {
  return device_at(said.starts_with("gpu:") ? std::stoi(said.substr(4)) : -1);
}
solve_rung rung_of(const nb::dict& d) {
  solve_rung r;
  each_field_of_rung(r, reader(d));
  r.where = device_of(nb::cast<std::string>(d["device"]));
  r.why = status_of(nb::cast<std::string>(d["status"]));
  const auto seconds = nb::cast<nb::dict>(d["seconds"]);
  r.setup_seconds = nb::cast<double>(seconds["setup"]), r.solve_seconds = nb::cast<double>(seconds["solve"]);
  return r;
}

std::vector<double> numbers_of(nb::handle array) {
  const buffer from(array, false);
  const auto in = from.read<double>();
  return {in.begin(), in.end()};
}

/// What is said beside the report. `told`: text by the names of `report_context`, "goal" and "error".
report_context context_of(const nb::dict& told) {
  report_context c;
  const auto read = reader(told);
  read("name", c.name), read("origin", c.origin), read("rhs", c.rhs), read("x0", c.x0);
  read("goal", c.goal), read("error", c.error);
  return c;
}

solve_options options_of(const nb::dict& told) {
  solve_options o;
  const auto read = reader(told);
  read("rtol", o.rtol), read("atol", o.atol);
  o.where = device_at(nb::cast<int>(told["ordinal"]));
  o.values = nb::cast<std::string>(told["precision"]) == "f32" ? precision::f32 : precision::f64;
  return o;
}

/// Whether this machine has the device: a result may come from another one.
bool is_here(device d) { return !d.is_gpu() || d.ordinal < static_cast<int>(inspect_gpus().gpus.size()); }

/// What a report shows of the caller's rows; products are expected on the GPU of that number, or on the CPU.
nb::dict sketch_of_rows(const nb::object& indptr, const nb::object& indices, const nb::object& data, index_t rows,
                        index_t cols, int ordinal, bool single) {
  auto given = rows_of<double>(indptr, indices, data, {rows, cols});
  solve_options o;
  o.where = device_at(ordinal);
  o.values = single ? precision::f32 : precision::f64;
  const matrix_sketch s = interruptible([given = std::move(given), o] {
    return sketch(std::visit([](const auto& a) { return to_coo(a); }, given.arrays), o);
  });
  nb::dict d;
  d["rows"] = s.shape.rows, d["cols"] = s.shape.cols, d["nnz"] = s.nnz;
  d["facts"] = s.facts, d["picture"] = s.picture, d["row_lengths"] = s.row_lengths;
  nb::list expected;
  for (const expected_product& p : s.expected) expected.append(nb::make_tuple(p.format, p.kernel, p.seconds));
  d["expected"] = expected;
  return d;
}
matrix_sketch sketch_of(const nb::dict& d) {
  matrix_sketch s;
  const auto read = reader(d);
  read("rows", s.shape.rows), read("cols", s.shape.cols), read("nnz", s.nnz);
  read("facts", s.facts), read("picture", s.picture), read("row_lengths", s.row_lengths);
  for (const nb::handle one : nb::cast<nb::list>(d["expected"]))
    s.expected.push_back({nb::cast<std::string>(one[0]), nb::cast<std::string>(one[1]), nb::cast<double>(one[2])});
  return s;
}

void write_page(const nb::bytes& name, const nb::dict& report, const nb::dict& told, const nb::dict& sketch) {
  std::string file = file_of(name);
  auto c = context_of(told);
  c.matrix = sketch_of(sketch);
  interruptible([file = std::move(file), r = report_of(report), o = options_of(told), c = std::move(c)]() mutable {
    if (is_here(o.where)) add_machine(c, r, o.where);
    write_report(file, r, o, c);
    return true;
  });
}

} // namespace

nb::dict dict_of(const solve_report& r) {
  nb::dict d;
  each_field(r, writer(d));
  d["estimated_by"] = report::estimated_by(r, {}); // of fewer rows than columns the caller knows
  d["status"] = std::string(name(r.why));
  nb::list rungs, levels;
  for (const solve_rung& one : r.rungs) rungs.append(dict_of_rung(one));
  for (const multigrid_level& one : r.levels) {
    nb::dict level;
    each_field_of_level(one, writer(level));
    for (const setup_part& part : one.parts) {
      if (!level.contains("parts")) level["parts"] = nb::dict();
      level["parts"][part.what.c_str()] = part.seconds;
    }
    levels.append(level);
  }
  nb::list parts;
  for (const setup_part& one : r.setup_parts) parts.append(nb::make_tuple(one.what, one.seconds));
  d["rungs"] = rungs, d["levels"] = levels, d["setup_parts"] = parts;
  d["history"] = new_array(cview<double>(r.history));
  d["history_seconds"] = new_array(cview<double>(r.history_seconds));
  return d;
}

solve_report report_of(const nb::dict& d) {
  solve_report r;
  each_field(r, reader(d));
  r.why = status_of(nb::cast<std::string>(d["status"]));
  for (const nb::handle one : nb::cast<nb::list>(d["rungs"])) r.rungs.push_back(rung_of(nb::cast<nb::dict>(one)));
  for (const nb::handle one : nb::cast<nb::list>(d["levels"])) {
    const auto level = nb::cast<nb::dict>(one);
    each_field_of_level(r.levels.emplace_back(), reader(level));
    if (!level.contains("parts")) continue;
    for (const auto& [what, seconds] : nb::cast<nb::dict>(level["parts"]))
      r.levels.back().parts.push_back({nb::cast<std::string>(what), nb::cast<double>(seconds)});
  }
  for (const nb::handle one : nb::cast<nb::list>(d["setup_parts"]))
    r.setup_parts.push_back({nb::cast<std::string>(one[0]), nb::cast<double>(one[1])});
  r.history = numbers_of(d["history"]);
  r.history_seconds = numbers_of(d["history_seconds"]);
  return r;
}

void bind_report(nb::module_& m) {
  m.def("sketch", &sketch_of_rows);
  m.def("draw_convergence",
        [](const nb::dict& report, double goal) { return draw_convergence(report_of(report), goal); });
  m.def("write_report", &write_page);
}

} // namespace furrow::python
