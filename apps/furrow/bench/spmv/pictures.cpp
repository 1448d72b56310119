// SPDX-License-Identifier: BSD-3-Clause
#include "bench/conditions.hpp"
#include "report.hpp"

#include "picture/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli::spmv_bench {
namespace {

using picture::chart;
using picture::scale;

/// A series of a picture: a format, or a way of a rival, in its fastest kernel.
struct contender {
  std::string library, format;
  std::string label() const { return library == "furrow" ? format : library + " " + format; }
  friend bool operator==(const contender&, const contender&) = default;
};

/// Ours, then rivals; `refused`: also those of our formats that serve none of the matrices.
std::vector<contender> contenders(const std::vector<outcome>& all, precision p, bool refused) {
  std::vector<contender> found;
  const auto add = [&](const auto& m, bool ours) {
    const contender c{m.library, m.format};
    if (m.values == p && (m.library == "furrow") == ours && std::ranges::find(found, c) == found.end())
      found.push_back(c);
  };
  for (const bool ours : {true, false})
    for (const auto& o : all) {
      for (const auto& m : o.products) add(m, ours);
      for (const auto& s : o.skipped)
        if (refused && ours) add(s, ours);
    }
  return found;
}

chart speeds(const std::string& title, const std::vector<outcome>& all, precision p) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& o : all) names.push_back(o.name);
  chart c(fmt::format("y = A x, {}", name_of(p)), names, {"GFLOP/s"});
  c.remark(title);
  for (const auto& who : contenders(all, p, true)) {
    std::vector<double> values;
    for (const auto& o : all) {
      const product* m = o.fastest(p, who.library, who.format);
      values.push_back(m ? m->gflops(o.s.nnz) : std::numeric_limits<double>::quiet_NaN());
    }
    c.bars(who.label(), values);
    for (std::size_t k = 0; k < all.size(); ++k)
      for (const auto& s : all[k].skipped)
        if (std::isnan(values[k]) && s.values == p && contender{s.library, s.format} == who)
          c.refusal(who.label(), k, s.why);
  }
  return c;
}

/// The memory's ceiling, and that of the fastest cache in which a product ran, where it is another one.
std::vector<double> roofs_of(const std::vector<outcome>& all, double memory) {
  double cache = 0;
  for (const auto& o : all)
    for (const auto& m : o.products)
      if (m.ceiling > cache) cache = m.ceiling;
  constexpr double another = 1.2;
  std::vector<double> roofs{memory};
  if (cache > another * memory) roofs.push_back(cache);
  return roofs;
}

chart roofline(const std::string& title, const std::vector<outcome>& all, precision p, double ceiling) {
  chart c(fmt::format("Roofline, y = A x, {}", name_of(p)),
          {"flops / byte that the format must move", scale::logarithmic}, {"GFLOP/s", scale::logarithmic});
  c.remark(title);
  double low = std::numeric_limits<double>::infinity(), high = 0;
  const auto intensity = [](const outcome& o, const product& m) { return 2 * double(o.s.nnz) / m.bytes; };
  for (const auto& o : all)
    for (const auto& m : o.products)
      if (m.values == p && o.s.nnz > 0) {
        low = std::min(low, intensity(o, m));
        high = std::max(high, intensity(o, m));
      }
  for (const auto& who : contenders(all, p, false)) {
    std::vector<picture::point> points;
    for (const auto& o : all)
      if (const product* m = o.fastest(p, who.library, who.format))
        points.push_back({intensity(o, *m), m->gflops(o.s.nnz), o.name, m == o.best(p) ? o.name : ""});
    c.points(who.label(), std::move(points));
  }
  const auto roofs = roofs_of(all, ceiling);
  for (const double roof : roofs)
    if (high > 0 && roof > 0)
      c.guide(fmt::format("{}, {:.0f} GB/s", roof == ceiling ? "memory" : "cache", 1e-9 * roof),
              {low / 1.2, 1e-9 * roof * low / 1.2}, {high * 1.2, 1e-9 * roof * high * 1.2});
  return c;
}

} // namespace

void draw(const std::string& folder, const std::string& title, const std::vector<outcome>& all,
          const std::vector<precision>& values, double ceiling) {
  for (const precision p : values) {
    write_into(folder, fmt::format("gflops_{}.svg", name_of(p)), speeds(title, all, p).svg());
    write_into(folder, fmt::format("roofline_{}.svg", name_of(p)), roofline(title, all, p, ceiling).svg());
  }
}

} // namespace furrow::cli::spmv_bench
