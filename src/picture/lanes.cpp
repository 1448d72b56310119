// SPDX-License-Identifier: BSD-3-Clause
#include "lanes.hpp"
#include "colours.hpp"
#include "svg.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace furrow::picture {
namespace {

constexpr double lanes_left = 44, top = 96, cell = 13, gap = 1;

/// The arrays, in the order in which the warp meets them.
std::vector<std::string_view> arrays_of(const play::kernel_report& r) {
  std::vector<std::string_view> names;
  for (const auto& s : r.trace)
    if (std::ranges::find(names, s.array) == names.end()) names.push_back(s.array);
  return names;
}

index_t lines_of(const play::step& s) {
  std::set<index_t> lines;
  for (const index_t e : s.element)
    if (e >= 0) lines.insert(e / s.line);
  return static_cast<index_t>(lines.size());
}

void draw(svg& out, const play::step& s, std::size_t number, const std::string& colour) {
  const double x = lanes_left + cell * double(number);
  index_t before = -1;
  for (std::size_t lane = 0; lane < s.element.size(); ++lane) {
    const index_t e = s.element[lane];
    if (e < 0) continue;
    const bool begins = e / s.line != before;
    before = e / s.line;
    out.element(
        "rect",
        {{"x", x},
         {"y", top + cell * double(lane)},
         {"width", cell - gap},
         {"height", cell - gap},
         {"fill", colour},
         {"fill-opacity", std::string(begins ? "1" : "0.55")}},
        fmt::format("step {}, lane {}: {} {}[{}]", number + 1, lane, s.stores ? "writes" : "reads", s.array, e));
  }
  if (s.stores)
    out.element("rect", {{"x", x - gap / 2},
                         {"y", top - gap / 2},
                         {"width", cell},
                         {"height", cell * double(s.element.size())},
                         {"fill", "none"},
                         {"stroke", grey}});
  if (!s.shared)
    out.text(x + cell / 2 - gap, top + cell * double(s.element.size()) + 10, count_text(lines_of(s)),
             {{"font-size", 8.0}, {"text-anchor", "middle"}, {"fill", grey}});
}

} // namespace

std::string lanes(const play::kernel_report& r, const std::string& title) {
  const auto names = arrays_of(r);
  const auto colours = colours_of(names);
  const double wide = cell * double(r.trace.size()), high = cell * double(r.wave);
  svg out(std::max(lanes_left + wide + 24, 640.0), top + high + 52, title);
  out.text(lanes_left, 22, title, {{"font-size", 15.0}, {"font-weight", "600"}, {"fill", grey}});
  out.text(lanes_left, 40,
           "The first warp: a row for each lane, a column for each of its loads and stores, in their order.",
           {{"fill", grey}});
  double at = lanes_left;
  for (std::size_t k = 0; k < names.size(); ++k) {
    out.element("rect", {{"x", at}, {"y", 52.0}, {"width", 10.0}, {"height", 10.0}, {"fill", colours[k]}});
    out.text(at + 15, 61, names[k], {{"fill", grey}});
    at += 34 + 7 * double(names[k].size());
  }
  out.text(
      lanes_left, 82,
      "Darker: another line of memory than the lane above. Empty: idle. In a frame: a store. Below: lines touched.",
      {{"fill", grey}, {"font-size", 11.0}});
  for (int lane = 0; lane < r.wave; lane += 4)
    out.text(lanes_left - 6, top + cell * double(lane) + 10, fmt::format("{}", lane),
             {{"font-size", 9.0}, {"text-anchor", "end"}, {"fill", grey}});
  for (std::size_t k = 0; k < r.trace.size(); ++k) {
    const auto name = std::ranges::find(names, r.trace[k].array) - names.begin();
    draw(out, r.trace[k], k, colours[static_cast<std::size_t>(name)]);
  }
  for (std::size_t k = 9; k < r.trace.size(); k += 10)
    out.text(lanes_left + cell * (double(k) + 0.5), top + high + 24, fmt::format("{}", k + 1),
             {{"font-size", 9.0}, {"text-anchor", "middle"}, {"fill", grey}});
  return out.finish();
}

} // namespace furrow::picture
