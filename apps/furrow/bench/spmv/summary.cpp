// SPDX-License-Identifier: BSD-3-Clause
#include "summary.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>

namespace furrow::cli::spmv_bench {
namespace {

/// time of `b` / time of `a`; NaN, which does not count, where one is missing.
double ratio(const product* a, const product* b) {
  return a && b ? b->time.median / a->time.median : std::numeric_limits<double>::quiet_NaN();
}

template <class F> ratio_summary over(const std::vector<outcome>& all, F&& ratio_of) {
  std::vector<double> ratios;
  ratios.reserve(all.size());
  for (const auto& o : all) ratios.push_back(ratio_of(o));
  return furrow::summarize(ratios);
}

} // namespace

summary summarize(const std::vector<outcome>& all, precision values) {
  std::set<std::string> formats;
  std::set<std::pair<std::string, std::string>> rivals;
  summary s;
  for (const auto& o : all) {
    for (const auto& m : o.products)
      if (m.ours()) formats.insert(m.format);
      else rivals.insert({m.library, m.format});
    if (const product* best = o.best(values)) ++s.wins[best->format];
  }
  s.auto_to_best = over(all, [&](const outcome& o) { return ratio(o.chosen(values), o.best(values)); });
  s.tuned_to_best = over(all, [&](const outcome& o) { return ratio(o.tuned(values), o.best(values)); });
  for (const auto& f : formats)
    if (f != "csr")
      s.format_to_csr[f] = over(all, [&](const outcome& o) {
        return ratio(o.fastest(values, "furrow", f), o.fastest(values, "furrow", "csr"));
      });
  for (const auto& who : rivals) {
    const auto rival = [&](const outcome& o) { return o.fastest(values, who.first, who.second); };
    const std::string name = fmt::format("{} {}", who.first, who.second);
    s.auto_to_rival[name] = over(all, [&](const outcome& o) { return ratio(o.chosen(values), rival(o)); });
    s.best_to_rival[name] = over(all, [&](const outcome& o) { return ratio(o.best(values), rival(o)); });
  }
  return s;
}

} // namespace furrow::cli::spmv_bench
