// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "solve_request.hpp"
#include "text.hpp"

#include "core/counted.hpp"

#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli {

std::string columns_text(const solve_outcome& o) {
  const auto answered = std::ranges::count_if(o.columns, report::is_answer);
  std::string text =
      line("columns", fmt::format("{} right-hand sides, {}", o.columns.size(),
                                  answered == std::ssize(o.columns)
                                      ? "all of them solved; the figures below are of the worst one"
                                      : fmt::format("{} solved; the figures below are of the worst one", answered)));
  for (std::size_t j = 0; j < o.columns.size(); ++j) {
    const solve_report& r = o.columns[j];
    std::string one = fmt::format("{}, {}, residual {}", name(r.why), counted(r.iterations, "iteration"),
                                  report::figure(r.relative_residual));
    if (r.error_estimate > 0) one += fmt::format(", error of x {:.1e}", r.error_estimate);
    if (!r.warning.empty()) one += ", see the warning in --json";
    text += line(fmt::format("{}", j + 1), one);
  }
  return text;
}

std::string warning_of_columns(const std::vector<solve_report>& columns) {
  const auto has_one = [](const solve_report& r) { return !r.warning.empty(); };
  const auto first = std::ranges::find_if(columns, has_one);
  if (first == columns.end()) return {};
  return fmt::format("{} of {} right-hand sides have a warning; that of the {}. one: {}",
                     std::ranges::count_if(columns, has_one), columns.size(), first - columns.begin() + 1,
                     first->warning);
}

json columns_json(const solve_outcome& o) {
  json list = json::array();
  for (const solve_report& r : o.columns)
    list.push_back({{"status", name(r.why)},
                    {"message", r.message},
                    {"iterations", r.iterations},
                    {"restarts", r.restarts},
                    {"relative_residual", report::has_residual(r) ? number(r.relative_residual) : json(nullptr)},
                    {"normal_residual", number(r.normal_residual)},
                    {"condition_estimate", r.condition_estimate > 0 ? number(r.condition_estimate) : json(nullptr)},
                    {"error_estimate", r.error_estimate > 0 ? number(r.error_estimate) : json(nullptr)},
                    {"estimated_by", report::estimated_by(r, o.shape)},
                    {"warning", r.warning},
                    {"solver", r.solver},
                    {"precond", r.precond},
                    {"seconds", {{"setup", r.setup_seconds}, {"solve", r.solve_seconds}}}});
  return list;
}

} // namespace furrow::cli
