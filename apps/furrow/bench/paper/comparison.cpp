// SPDX-License-Identifier: BSD-3-Clause
#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli::paper_bench {

using spmv_bench::outcome;

compared compare(const suite& s, const subject& it, bool stand_in, const outcome& o,
                 const std::vector<precision>& values, bool gpu) {
  compared c{&s, &it, stand_in, {}, {}};
  for (const precision p : values)
    for (std::size_t k = 0; k < s.methods.size(); ++k) {
      const method& m = s.methods[k];
      comparison row{&m, p, p == precision::f64 ? it.speeds[k].f64 : it.speeds[k].f32, 0, {}};
      for (const auto& found : o.products)
        if (found.ours() && found.values == p && found.format == m.format && found.kernel == m.kernel(gpu)) {
          row.now = found.gflops(o.s.nnz);
          row.kernel = found.kernel;
        }
      c.rows.push_back(std::move(row));
    }
  for (const precision p : values)
    if (const auto* chosen = o.chosen(p))
      c.chosen.push_back({p, chosen->format, chosen->kernel, chosen->gflops(o.s.nnz)});
  return c;
}

std::string text_of(const compared& all, const outcome& o, const std::vector<precision>& values, double ceiling_gbps) {
  const auto& rows = all.rows;
  std::string text = fmt::format("  beside the paper  {:<12} {:>10} {:>10} {:>8} {:>22}\n", "", device_of_the_paper,
                                 "here", "ratio", "ratio for each GB/s");
  for (const auto& c : rows) {
    const auto best_of = [&](double comparison::*speed) {
      return std::ranges::all_of(rows, [&](const auto& r) { return r.values != c.values || r.*speed <= c.*speed; });
    };
    const auto marked = [](double speed, bool best) {
      return speed > 0 ? fmt::format("{}{:.1f}", best ? "*" : "", speed) : std::string("-");
    };
    text += fmt::format("  {} {:<27} {:>9} {:>10}", spmv_bench::name_of(c.values), c.what->name,
                        marked(c.then, best_of(&comparison::then)), marked(c.now, best_of(&comparison::now)));
    if (c.now > 0)
      text +=
          fmt::format(" {:>8.3g} {:>22.3f}", c.now / c.then, c.now / ceiling_gbps / (c.then / bandwidth_of_the_paper));
    text += "\n";
  }
  for (const auto& c : all.chosen)
    text += fmt::format("  {} {:<27} {:>9} {:>10.1f}  {} ({})\n", spmv_bench::name_of(c.values), "Furrow's choice", "",
                        c.now, c.format, c.kernel);
  for (const precision p : values)
    if (const auto* best = o.best(p)) {
      double then = 0;
      for (const auto& c : rows)
        if (c.values == p) then = std::max(then, c.then);
      const double now = best->gflops(o.s.nnz);
      text += fmt::format("  {} best against best{:>17.1f} {:>10.1f} {:>8.3g} {:>22.3f}\n", spmv_bench::name_of(p),
                          then, now, now / then, now / ceiling_gbps / (then / bandwidth_of_the_paper));
    }
  return text;
}

json json_of(const compared& all, double ceiling_gbps) {
  const subject& it = *all.it;
  json j{{"suite", all.of->name}, {"name", it.name}, {"matrix_of_the_paper", it.file}, {"stand_in", all.stand_in}};
  if (all.stand_in) j["generator"] = it.stand_in;
  j["rows"] = json::array();
  for (const auto& c : all.rows) {
    json one{{"method", c.what->name},
             {"precision", spmv_bench::name_of(c.values)},
             {"gflops_then", c.then},
             {"gflops_now", nullptr},
             {"gflops_per_gbps_then", c.then / bandwidth_of_the_paper}};
    if (c.now > 0) {
      one["gflops_now"] = c.now;
      one["kernel"] = c.kernel;
      one["gflops_per_gbps_now"] = number(c.now / ceiling_gbps);
      one["ratio"] = c.now / c.then;
      one["ratio_per_bandwidth"] = c.now / ceiling_gbps / (c.then / bandwidth_of_the_paper);
    }
    j["rows"].push_back(std::move(one));
  }
  j["chosen"] = json::array();
  for (const auto& c : all.chosen)
    j["chosen"].push_back({{"precision", spmv_bench::name_of(c.values)},
                           {"format", c.format},
                           {"kernel", c.kernel},
                           {"gflops_now", c.now},
                           {"gflops_per_gbps_now", number(c.now / ceiling_gbps)}});
  return {{"paper", std::move(j)}};
}

} // namespace furrow::cli::paper_bench
