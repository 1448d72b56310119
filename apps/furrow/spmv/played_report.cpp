// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "played.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/printable.hpp"

#include <fmt/format.h>

namespace furrow::cli {
namespace {

const char* name_of(play::turns order) {
  return order == play::turns::random ? "random" : order == play::turns::descending ? "descending" : "ascending";
}

std::string row_of(const play::traffic& t, int wave) {
  const double idle = 1 - double(t.lanes) / double(t.instructions * wave);
  const std::string lines = t.shared ? "" : fmt::format("{:.2f}", double(t.lines) / double(t.instructions));
  const std::string used = t.shared ? "" : fmt::format("{:.0f} %", 100 * double(t.bytes) / (128 * double(t.lines)));
  std::string row = fmt::format("    {:<10} {:<12} {:>12} {:>6} {:>10} {:>11} {:>13} {:>10}", t.array,
                                fmt::format("{}{}", t.shared ? "shared " : "", t.stores ? "store" : "load"),
                                count_text(t.instructions), fmt::format("{:.0f} %", 100 * idle),
                                bytes_text(double(t.bytes)), lines, used, t.shared ? count_text(t.conflicts) : "");
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

json json_of(const play::kernel_report& k) {
  json arrays = json::array();
  for (const auto& t : k.arrays)
    arrays.push_back({{"array", t.array},
                      {"shared", t.shared},
                      {"access", t.stores ? "store" : "load"},
                      {"element_bytes", t.element_bytes},
                      {"instructions", t.instructions},
                      {"lanes", t.lanes},
                      {"idle_lanes", t.instructions * k.wave - t.lanes},
                      {"bytes", t.bytes},
                      {"lines", t.lines},
                      {"bank_conflicts", t.conflicts}});
  return {{"kernel", k.kernel},     {"blocks", k.blocks}, {"threads", k.threads}, {"barriers", k.barriers},
          {"shuffles", k.shuffles}, {"arrays", arrays},   {"faults", k.faults}};
}

} // namespace

std::string text_of(const spmv_request& q, const played_outcome& o) {
  std::string text = fmt::format("{}  {} x {}, {} entries\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), count_text(o.nnz));
  text += fmt::format("played on the CPU, {}, warps of {} lanes in {} order\n", q.machine.precision_name, o.how.wave,
                      name_of(o.how.order));
  for (const auto& r : o.results) {
    text += fmt::format("\n  {}  row error {:.3f}\n", bold(fmt::format("{} {}", r.format, r.kernel)), r.row_error);
    for (const auto& k : r.kernels) {
      text += fmt::format("  {}: {} blocks of {} threads, {} barriers, {} shuffles\n", k.kernel, count_text(k.blocks),
                          k.threads, count_text(k.barriers), count_text(k.shuffles));
      text += dim(fmt::format("    {:<10} {:<12} {:>12} {:>6} {:>10} {:>11} {:>13} {:>10}\n", "array", "", "accesses",
                              "idle", "bytes", "lines each", "of them used", "conflicts"));
      for (const auto& t : k.arrays) text += row_of(t, k.wave);
      for (const auto& f : k.faults) text += bad(fmt::format("    {}\n", f));
    }
  }
  if (!q.trace.empty()) text += "\n" + line("picture", q.trace);
  if (!q.output.empty())
    text +=
        "\n" + line("y", fmt::format("{}, by {} ({})", q.output, o.results.front().format, o.results.front().kernel));
  return text;
}

std::string json_of(const spmv_request& q, const played_outcome& o) {
  json j{{"matrix", o.name},     {"rows", o.shape.rows},
         {"cols", o.shape.cols}, {"nnz", o.nnz},
         {"device", "play"},     {"precision", q.machine.precision_name},
         {"alpha", q.alpha},     {"transpose", q.transpose},
         {"wave", o.how.wave},   {"order", name_of(o.how.order)}};
  if (o.how.order == play::turns::random) j["seed"] = o.how.seed;
  j["results"] = json::array();
  for (const auto& r : o.results) {
    json kernels = json::array();
    for (const auto& k : r.kernels) kernels.push_back(json_of(k));
    j["results"].push_back(
        {{"format", r.format}, {"kernel", r.kernel}, {"max_row_error", number(r.row_error)}, {"kernels", kernels}});
  }
  return json_text(j);
}

} // namespace furrow::cli
