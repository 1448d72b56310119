// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "played.hpp"
#include "played_text.hpp"
#include "sweep.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/counted.hpp"
#include "core/kernel_numbers.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>

namespace furrow::cli {

std::string text_of(const spmv_request& q, const played_outcome& o) {
  std::string text = fmt::format("{}  {} x {}, {}\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), counted_text(o.nnz, "entry"));
  text += fmt::format("played on the CPU, {}, {}\n", q.machine.precision_name, order_text(o.how));
  text += q.sweep ? "\n" + sweep_table(o) : text_of(o.results);
  if (!q.trace.empty()) text += "\n" + line("picture", place_text(q.trace));
  if (!q.output.empty())
    text += "\n" + line("y", fmt::format("{}, by {} ({})", place_text(q.output), o.results.front().format,
                                         o.results.front().kernel));
  return text;
}

std::string json_of(const spmv_request& q, const played_outcome& o) {
  json j{{"matrix", o.name}, {"rows", o.shape.rows},    {"cols", o.shape.cols},
         {"nnz", o.nnz},     {"device", "play"},        {"precision", q.machine.precision_name},
         {"alpha", q.alpha}, {"transpose", q.transpose}};
  add_settings(j, o.how);
  j["results"] = json_of(o.results);
  if (q.sweep)
    for (auto& r : j["results"]) {
      const kernel_numbers n = read_kernel_numbers(r["kernel"].get<std::string>());
      if (n.lanes) r["lanes"] = n.lanes;
      r["block"] = n.block;
    }
  return json_text(j);
}

} // namespace furrow::cli
