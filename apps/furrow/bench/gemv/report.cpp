// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"
#include "bench/conditions.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "picture/chart.hpp"
#include "tune/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace furrow::cli::gemv_bench {
namespace {

std::string name_of(shape2 s) { return fmt::format("{}x{}", s.rows, s.cols); }

/// Ratios of times, rival by rival.
std::map<std::string, ratio_summary> summarize(const std::vector<product>& all) {
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& m : all)
    for (const auto& r : m.rivals) ratios[r.library].push_back(r.ratio());
  std::map<std::string, ratio_summary> found;
  for (const auto& [library, each] : ratios) found[library] = furrow::summarize(each);
  return found;
}

} // namespace

std::string head_text(device where, double ceiling, bool rivals) {
  const std::string machine =
      where.is_gpu() ? describe(where) : fmt::format("cpu, {} thread{}", threads(), threads() == 1 ? "" : "s");
  return fmt::format("{}{}; rivals: {}\n\n", machine, ceiling_text(ceiling),
                     rivals ? present_rivals(where, bench::dense_libraries()) : "left out") +
         dim(fmt::format("{:<19} {:<4} {:<6} {:<2} {:<7} {:>12} {:>8} {:>11} {:>8}   {}", "shape", "type", "layout",
                         "op", "kernel", "us", "GB/s", "of ceiling", "lies in", "rivals: us, times as long")) +
         "\n";
}

std::string row_text(const product& m) {
  std::string text =
      fmt::format("{:<19} {:<4} {:<6} {:<2} {:<7} {:>12.2f} {:>8.1f} {:>11} {:>8}", name_of(m.shape), m.type, m.layout,
                  m.operation, m.kernel, 1e6 * m.time.median, m.gbps(), share_text(m.fraction()), m.lies_in);
  for (const auto& r : m.rivals) text += fmt::format("   {} {:.2f}, {:.2f}", r.library, 1e6 * r.time.median, r.ratio());
  return text + "\n";
}

std::string summary_text(const std::vector<product>& all) {
  std::string text;
  for (const auto& [library, r] : summarize(all))
    text += fmt::format("\n{} takes {} times as long: {:.3f} at worst, {:.3f} at best, of {} products", library,
                        bold(fmt::format("{:.3f}", r.geometric_mean)), r.worst, r.best, r.count);
  return text.empty() ? text : text + "\n";
}

json json_of(const product& m) {
  json j{{"rows", m.shape.rows},
         {"cols", m.shape.cols},
         {"type", m.type},
         {"layout", m.layout},
         {"op", m.operation},
         {"kernel", m.kernel},
         {"bytes", m.bytes},
         {"seconds", m.time.median},
         {"seconds_fastest", m.time.fastest},
         {"repeats", m.time.repeats},
         {"gbps", number(m.gbps())},
         {"ceiling_gbps", number(1e-9 * m.ceiling)},
         {"fraction", number(m.fraction())},
         {"lies_in", m.lies_in}};
  j["rivals"] = json::array();
  for (const auto& r : m.rivals)
    j["rivals"].push_back({{"library", r.library},
                           {"seconds", r.time.median},
                           {"seconds_fastest", r.time.fastest},
                           {"ratio", number(r.ratio())}});
  return j;
}

json summary_json(const std::vector<product>& all) {
  json j = json::object();
  for (const auto& [library, r] : summarize(all))
    j[library] = {{"geometric_mean", r.geometric_mean}, {"worst", r.worst}, {"best", r.best}, {"products", r.count}};
  return j;
}

void draw(const std::string& folder, const std::string& title, const std::vector<product>& all) {
  std::map<std::string, std::vector<const product*>> by_type;
  for (const auto& m : all) by_type[m.type].push_back(&m);
  for (const auto& [type, products] : by_type) {
    std::vector<std::string> shapes, labels;
    std::map<std::string, std::map<std::string, double>> fraction; // label, shape
    const auto add = [&](const std::string& who, const product& m, double seconds) {
      const std::string label = fmt::format("{}{} {}", who, m.layout, m.operation), shape = name_of(m.shape);
      if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
      if (!fraction.contains(label)) labels.push_back(label);
      fraction[label][shape] = m.bytes / seconds / m.ceiling;
    };
    for (const auto* m : products) add("", *m, m->time.median);
    for (const auto* m : products)
      for (const auto& r : m->rivals) add(r.library + " ", *m, r.time.median);
    picture::chart c(fmt::format("y = op(A) x, dense, {}", type), shapes, {"of the read ceiling"});
    c.remark(title);
    for (const auto& label : labels) {
      std::vector<double> values;
      for (const auto& shape : shapes) {
        const auto at = fraction[label].find(shape);
        values.push_back(at == fraction[label].end() ? std::numeric_limits<double>::quiet_NaN() : at->second);
      }
      c.bars(label, values);
    }
    write_into(folder, fmt::format("gemv_{}.svg", type), c.svg());
  }
}

} // namespace furrow::cli::gemv_bench
