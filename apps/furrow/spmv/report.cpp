// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "spmv_request.hpp"
#include "sweep.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "backends/cpu/caches.hpp"
#include "core/counted.hpp"
#include "core/kernel_numbers.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow::cli {
namespace {

/// A line a result, the fastest one marked.
std::string list_of(const spmv_request& q, const spmv_outcome& o, std::vector<spmv_result>::const_iterator best) {
  std::string text = dim(fmt::format("  {:<10} {:<12} {:>10} {:>10} {:>9} {:>8} {:>11}{}", "format", "kernel", "time",
                                     "bytes", "GFlop/s", "GB/s", "of ceiling", q.check ? "   row error" : "")) +
                     "\n";
  const auto error_text = [&](const spmv_result& r) {
    if (!r.row_error) return std::string();
    return o.none_checked() ? "   not checked" : fmt::format("   {:>9.3f}", *r.row_error);
  };
  for (auto r = o.results.begin(); r != o.results.end(); ++r) {
    const std::string row =
        fmt::format("{} {:<10} {:<12} {:>10} {:>10} {:>9.2f} {:>8.1f} {:>11}{}", r == best ? "*" : " ", r->format,
                    r->kernel, seconds_text(r->time.median), bytes_text(r->bytes), r->gflops, r->gbps,
                    share_text(r->fraction()), error_text(*r));
    text += (r == best ? bold(row) : row) + "\n";
  }
  return text;
}

} // namespace

std::string text_of(const spmv_request& q, const spmv_outcome& o) {
  std::string text = fmt::format("{}  {} x {}, {}\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), counted_text(o.nnz, "entry"));
  const std::string where = q.where.is_gpu() ? describe(q.where) : "cpu, " + counted(threads(), "thread");
  const auto best = std::ranges::min_element(o.results, {}, [](const spmv_result& r) { return r.time.median; });
  text += fmt::format("{}, {}{}\n", where, q.machine.precision_name,
                      best == o.results.end() ? "" : ceiling_text(1e9 * best->ceiling_gbps));
  if (q.transpose || q.alpha != 1)
    text += fmt::format(
        "y = {}{}{} x{}\n", q.alpha == 1 ? "" : fmt::format("{} ", q.alpha), "A", q.transpose ? "'" : "",
        q.transpose ? fmt::format("; the triplets were transposed first, in {}", seconds_text(o.transpose_seconds))
                    : "");
  text += "\n";
  if (q.sweep) text += sweep_table(o);
  else text += list_of(q, o, best);
  const bool cached =
      std::ranges::any_of(o.results, [&](const auto& r) { return !q.where.is_gpu() && r.bytes < last_level_cache(); });
  for (const auto& s : o.skipped) text += fmt::format("  {:<10} left out: {}\n", s.format, s.why);
  if (!o.reason.empty() && o.reason != "asked for")
    text += fmt::format("\n  {} was {}.\n", o.results.front().format, o.reason);
  std::vector<std::string> spreading;
  for (const auto& r : o.results)
    if (r.spread > 0 && std::ranges::find(spreading, r.format) == spreading.end()) spreading.push_back(r.format);
  if (!spreading.empty())
    text += fmt::format("\n  An infinity in x reaches rows without an entry there in {}: padding is multiplied.\n",
                        fmt::join(spreading, ", "));
  if (cached)
    text += fmt::format("\n  The matrix fits into the cache: its speed is not that of memory{}.\n",
                        q.ceiling ? ", and neither is the ceiling" : "");
  if (!q.output.empty() && !o.results.empty())
    text += "\n" + line("y", fmt::format("{}, by {} ({})", place_text(q.output), o.results.front().format,
                                         o.results.front().kernel));
  return text;
}

std::string json_of(const spmv_request& q, const spmv_outcome& o) {
  json j;
  j["matrix"] = o.name;
  j["rows"] = o.shape.rows;
  j["cols"] = o.shape.cols;
  j["nnz"] = o.nnz;
  j["device"] = describe(q.where);
  j["threads"] = threads();
  j["alpha"] = q.alpha;
  j["transpose"] = q.transpose;
  if (q.transpose) j["transpose_seconds"] = o.transpose_seconds;
  j["x"] = q.x.empty() ? "random" : q.x;
  if (!q.output.empty()) j["output"] = q.output;
  j["ceiling_gbps"] = o.results.empty() ? json(nullptr) : number(o.results.front().ceiling_gbps);
  j["reason"] = o.reason;
  j["results"] = json::array();
  for (const auto& r : o.results) {
    json one{{"format", r.format},
             {"kernel", r.kernel},
             {"precision", q.machine.precision_name},
             {"seconds", r.time.median},
             {"bytes", r.bytes},
             {"gflops", number(r.gflops)},
             {"gbps", number(r.gbps)},
             {"ceiling_gbps", number(r.ceiling_gbps)},
             {"fraction", number(r.fraction())},
             {"seconds_fastest", r.time.fastest},
             {"repeats", r.time.repeats}};
    if (q.sweep) {
      const kernel_numbers n = read_kernel_numbers(r.kernel);
      if (n.lanes) one["lanes"] = n.lanes;
      one["block"] = n.block;
    }
    if (r.row_error) {
      one["max_row_error"] = o.none_checked() ? json() : number(*r.row_error);
      one["rows_not_checked"] = o.rows_not_checked;
      one["rows_reached_by_padding"] = r.spread;
    }
    j["results"].push_back(std::move(one));
  }
  j["skipped"] = json::array();
  for (const auto& s : o.skipped) j["skipped"].push_back({{"format", s.format}, {"why", s.why}});
  return json_text(j);
}

} // namespace furrow::cli
