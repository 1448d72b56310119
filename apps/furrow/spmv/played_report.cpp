// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "played.hpp"
#include "played_text.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/printable.hpp"

#include <fmt/format.h>

namespace furrow::cli {

std::string text_of(const spmv_request& q, const played_outcome& o) {
  std::string text = fmt::format("{}  {} x {}, {} entries\n", bold(printable(o.name)), count_text(o.shape.rows),
                                 count_text(o.shape.cols), count_text(o.nnz));
  text += fmt::format("played on the CPU, {}, {}\n", q.machine.precision_name, order_text(o.how));
  for (const auto& r : o.results) {
    text += fmt::format("\n  {}  row error {:.3f}\n", bold(fmt::format("{} {}", r.format, r.kernel)), r.row_error);
    for (const auto& k : r.kernels) text += table_of(k);
  }
  if (!q.trace.empty()) text += "\n" + line("picture", q.trace);
  if (!q.output.empty())
    text +=
        "\n" + line("y", fmt::format("{}, by {} ({})", q.output, o.results.front().format, o.results.front().kernel));
  return text;
}

std::string json_of(const spmv_request& q, const played_outcome& o) {
  json j{{"matrix", o.name}, {"rows", o.shape.rows},    {"cols", o.shape.cols},
         {"nnz", o.nnz},     {"device", "play"},        {"precision", q.machine.precision_name},
         {"alpha", q.alpha}, {"transpose", q.transpose}};
  add_settings(j, o.how);
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
