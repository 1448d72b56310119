// SPDX-License-Identifier: BSD-3-Clause
#include "text.hpp"
#include "bench/conditions.hpp"
#include "report.hpp"
#include "summary.hpp"
#include "terminal.hpp"

#include "core/counted.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>

namespace furrow::cli::spmv_bench {
namespace {

std::string who(const product& m) {
  return m.ours() ? m.format + (m.kernel.empty() ? "" : " (" + m.kernel + ")") : m.library + " " + m.format;
}

std::string means(const char* label, const std::map<std::string, ratio_summary>& table) {
  std::string text;
  for (const auto& [name, r] : table)
    if (r.count)
      text += fmt::format("  {:<28} {:>7.3f} {:>7.3f} {:>7.3f} {:>5}\n", label + name, r.geometric_mean, r.worst,
                          r.best, r.count);
  return text;
}

const char* mark(const product& m) { return m.chosen && m.tuned ? "b" : m.chosen ? "a" : m.tuned ? "t" : " "; }

} // namespace

std::string head_text(device where, double ceiling, bool rivals) {
  const std::string machine =
      where.is_gpu() ? describe(where) : fmt::format("cpu, {} thread{}", threads(), threads() == 1 ? "" : "s");
  return fmt::format("{}{}; rivals: {}\n", machine, ceiling_text(ceiling), rivals ? present_rivals(where) : "left out");
}

std::string loaded_text(const outcome& o, bool check) {
  return fmt::format("\n{}  {} x {}, {}, rows of {} to {}\n", bold(printable(o.name)), count_text(o.s.shape.rows),
                     count_text(o.s.shape.cols), counted_text(o.s.nnz, "entry"), count_text(o.s.row_min),
                     count_text(o.s.row_max)) +
         dim(fmt::format("      {:<22} {:<14} {:>10} {:>9} {:>8} {:>11} {:>8} {:>9}{}", "format", "kernel", "ms",
                         "GFLOP/s", "GB/s", "of ceiling", "lies in", "set-up", check ? "   row error" : "")) +
         "\n";
}

std::string row_text(const outcome& o, const product& m) {
  return fmt::format("{} {} {:<22} {:<14} {:>10.4f} {:>9.2f} {:>8.1f} {:>11} {:>8} {:>8.3g}x{}\n", mark(m),
                     name_of(m.values), m.ours() ? m.format : m.library + " " + m.format, m.kernel, 1e3 * m.time.median,
                     m.gflops(o.s.nnz), m.gbps(), share_text(m.fraction()), m.lies_in, m.setup / m.time.median,
                     m.row_error ? fmt::format("   {:>9.3f}", *m.row_error) : "");
}

std::string skipped_text(const left_out& s) {
  return fmt::format("  {} {:<22} left out: {}\n", name_of(s.values),
                     s.library == "furrow" ? s.format : s.library + " " + s.format, s.why);
}

std::string verdict_text(const outcome& o, const std::vector<precision>& values) {
  std::string text;
  for (const precision p : values) {
    const product* const best = o.best(p);
    if (!best) continue;
    text += fmt::format("* {} best: {}, {:.2f} GFLOP/s", name_of(p), bold(who(*best)), best->gflops(o.s.nnz));
    const auto add = [&](const char* how, const product* m) {
      if (m) text += fmt::format("; {}: {}, {:.3f} of it", how, who(*m), best->time.median / m->time.median);
    };
    add("auto", o.chosen(p));
    add("tuned", o.tuned(p));
    text += "\n";
  }
  return text;
}

std::string summary_text(const std::vector<outcome>& all, const std::vector<precision>& values) {
  std::string text;
  for (const precision p : values) {
    const summary s = summarize(all, p);
    if (s.wins.empty()) continue;
    text += fmt::format("\n{}\n",
                        bold(fmt::format("{} over {} matri{}", name_of(p), all.size(), all.size() == 1 ? "x" : "ces")));
    text += dim(fmt::format("  {:<28} {:>7} {:>7} {:>7} {:>5}", "times as fast", "mean", "worst", "best", "of")) + "\n";
    text += means("", {{"auto, of the best", s.auto_to_best}, {"tuned, of the best", s.tuned_to_best}});
    text += means("to csr: ", s.format_to_csr);
    text += means("auto to ", s.auto_to_rival);
    text += means("best to ", s.best_to_rival);
    text += "  best format:";
    for (const auto& [format, count] : s.wins) text += fmt::format(" {} {}", format, count);
    text += "\n";
  }
  return text;
}

} // namespace furrow::cli::spmv_bench
