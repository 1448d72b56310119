// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"
#include "bench/conditions.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/counted.hpp"
#include "core/printable.hpp"
#include "picture/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace furrow::cli::cg_bench {
namespace {

const char* name_of(precision p) { return p == precision::f64 ? "f64" : "f32"; }

double to_tutorial(const outcome& o, const measured_form& f) { return f.iteration() / o.tutorial().iteration(); }

} // namespace

std::string head_text(device where, double ceiling) {
  const std::string machine =
      where.is_gpu() ? describe(where) : fmt::format("cpu, {} thread{}", threads(), threads() == 1 ? "" : "s");
  return fmt::format("{}{}; conjugate gradients without M, each form with the same product\n", machine,
                     ceiling_text(ceiling));
}

std::string table_text(const outcome& o) {
  std::string text =
      fmt::format("\n{}  {}, {}; {} ({}), {}\n", bold(printable(o.name)), counted_text(o.s.shape.rows, "row"),
                  counted_text(o.s.nnz, "entry"), o.format, o.kernel, name_of(o.values));
  text += dim(fmt::format("  {:<9} {:<41} {:>6} {:>9} {:>13} {:>9} {:>7} {:>11} {:>9} {:>12}", "form", "", "steps",
                          "solve", "an iteration", "bytes", "GB/s", "of ceiling", "waits", "of tutorial")) +
          "\n";
  for (const auto& f : o.forms) {
    text += fmt::format("{} {:<9} {:<41} {:>6} {:>9} {:>13} {:>9} {:>7.1f} {:>11} {:>9.2f} {:>12.3f}\n",
                        f.is_cg ? "*" : " ", f.form->name, f.form->about, f.report.iterations, seconds_text(f.median()),
                        seconds_text(f.iteration()), bytes_text(f.report.bytes_per_iteration), f.gbps(),
                        share_text(f.fraction()), f.waits(), to_tutorial(o, f));
    if (f.report.why != status::converged) text += fmt::format("    did not converge: {}\n", f.report.message);
  }
  for (const auto& s : o.skipped) text += fmt::format("  {:<9} left out: {}\n", s.form->name, s.why);
  return text + fmt::format("* --solver cg: an iteration is {} times as fast as the tutorial's\n",
                            bold(fmt::format("{:.2f}", 1 / to_tutorial(o, o.cg()))));
}

json json_of(const outcome& o) {
  json j{{"matrix", o.name},   {"rows", o.s.shape.rows}, {"nnz", o.s.nnz},
         {"format", o.format}, {"kernel", o.kernel},     {"precision", name_of(o.values)}};
  j["forms"] = json::array();
  for (const auto& f : o.forms)
    j["forms"].push_back({{"form", f.form->name},
                          {"about", f.form->about},
                          {"is_cg", f.is_cg},
                          {"status", furrow::name(f.report.why)},
                          {"iterations", f.report.iterations},
                          {"relative_residual", number(f.report.relative_residual)},
                          {"seconds", f.median()},
                          {"seconds_fastest", *std::ranges::min_element(f.seconds)},
                          {"seconds_per_iteration", f.iteration()},
                          {"bytes_per_iteration", f.report.bytes_per_iteration},
                          {"gbps", number(f.gbps())},
                          {"ceiling_gbps", number(1e-9 * f.ceiling)},
                          {"fraction", number(f.fraction())},
                          {"waits", f.report.waits},
                          {"waits_per_iteration", f.waits()},
                          {"of_tutorial", number(to_tutorial(o, f))}});
  j["left_out"] = json::array();
  for (const auto& s : o.skipped) j["left_out"].push_back({{"form", s.form->name}, {"why", s.why}});
  return j;
}

void draw(const std::string& folder, const std::string& machine, const std::vector<outcome>& all, precision values) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& o : all) names.push_back(o.name);
  picture::chart c(fmt::format("Conjugate gradients, a change at a time, {}", name_of(values)), names,
                   {"time of an iteration, that of the tutorial's = 1"});
  c.remark(machine);
  for (const auto& form : cg_forms()) {
    std::vector<double> shares;
    for (const auto& o : all) {
      const auto f = std::ranges::find(o.forms, &form, &measured_form::form);
      shares.push_back(f == o.forms.end() ? std::numeric_limits<double>::quiet_NaN() : to_tutorial(o, *f));
    }
    if (std::ranges::all_of(shares, [](double s) { return !(s > 0); })) continue;
    const std::string label = fmt::format("{}: {}", form.name, form.about);
    c.bars(label, shares);
    for (std::size_t k = 0; k < all.size(); ++k)
      for (const auto& s : all[k].skipped)
        if (s.form == &form) c.refusal(label, k, s.why);
  }
  write_into(folder, fmt::format("cg_{}.svg", name_of(values)), c.svg());
}

} // namespace furrow::cli::cg_bench
