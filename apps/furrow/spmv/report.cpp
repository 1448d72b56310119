// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "spmv_request.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "backends/cpu/caches.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli {

std::string text_of(const spmv_request& q, const spmv_outcome& o) {
  std::string text = fmt::format("{}  {} x {}, {} entries\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), count_text(o.nnz));
  const std::string where =
      q.where.is_gpu() ? describe(q.where) : fmt::format("cpu, {} thread{}", threads(), threads() == 1 ? "" : "s");
  text += fmt::format("{}, {}; reads {:.1f} GB/s at best\n\n", where, q.machine.precision_name, o.ceiling_gbps);
  text += dim(fmt::format("  {:<10} {:<12} {:>10} {:>10} {:>9} {:>8} {:>11}{}", "format", "kernel", "time", "bytes",
                          "GFlop/s", "GB/s", "of ceiling", q.check ? "   row error" : "")) +
          "\n";
  const auto best = std::ranges::min_element(o.results, {}, [](const spmv_result& r) { return r.time.median; });
  bool cached = false;
  for (auto r = o.results.begin(); r != o.results.end(); ++r) {
    const std::string row =
        fmt::format("{} {:<10} {:<12} {:>10} {:>10} {:>9.2f} {:>8.1f} {:>9.0f} %{}", r == best ? "*" : " ", r->format,
                    r->kernel, seconds_text(r->time.median), bytes_text(r->bytes), r->gflops, r->gbps,
                    100 * r->gbps / o.ceiling_gbps, r->row_error ? fmt::format("   {:>9.3f}", *r->row_error) : "");
    text += (r == best ? bold(row) : row) + "\n";
    cached = cached || (!q.where.is_gpu() && r->bytes < last_level_cache());
  }
  for (const auto& s : o.skipped) text += fmt::format("  {:<10} left out: {}\n", s.format, s.why);
  if (!o.reason.empty() && o.reason != "asked for")
    text += fmt::format("\n  {} was {}.\n", o.results.front().format, o.reason);
  if (cached) text += "\n  The matrix fits into the cache: its speed is not that of memory.\n";
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
  j["ceiling_gbps"] = number(o.ceiling_gbps);
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
             {"fraction", number(r.gbps / o.ceiling_gbps)},
             {"seconds_fastest", r.time.fastest},
             {"repeats", r.time.repeats}};
    if (r.row_error) one["max_row_error"] = number(*r.row_error);
    j["results"].push_back(std::move(one));
  }
  j["skipped"] = json::array();
  for (const auto& s : o.skipped) j["skipped"].push_back({{"format", s.format}, {"why", s.why}});
  return json_text(j);
}

} // namespace furrow::cli
