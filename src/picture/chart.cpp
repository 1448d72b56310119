// SPDX-License-Identifier: BSD-3-Clause
#include "chart.hpp"
#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace furrow::picture {
namespace {

constexpr std::array colours{"#3b82c4", "#d9822b", "#2f9e6e", "#c2548f", "#8a6fd1", "#b39a1f",
                             "#3aa6b9", "#cc5a4a", "#7c8a5a", "#a0724b", "#5b7fa6", "#9a9a9a"};
constexpr const char* grey = "#7a808a";
constexpr double left = 64, right = 16, top = 58, plot_height = 320, bar_width = 9, letter = 6.6;

std::string colour(std::size_t k) { return colours[k % colours.size()]; }

} // namespace

/// What one call of `svg` works out: ranges, sizes, places on the paper.
struct drawing {
  const chart& c;
  axis x, y;
  std::size_t bar_series = 0;
  double width = 0, group = 0, bottom = 0; ///< of the plot; of a group of bars; below the plot
  picture::svg out;

  static std::vector<double> values(const chart& c, bool of_x) {
    std::vector<double> all;
    for (const auto& s : c.series_)
      for (const auto& p : s.data)
        if (c.y_.takes(p.y) && (!c.groups_.empty() || c.x_.takes(p.x))) all.push_back(of_x ? p.x : p.y);
    return all;
  }
  static std::size_t count_bars(const chart& c) {
    return static_cast<std::size_t>(std::ranges::count(c.series_, chart::mark::bars, &chart::series::kind));
  }
  static double group_width(const chart& c) { return bar_width * double(count_bars(c)) + 10; }
  static double plot_width(const chart& c) {
    return c.groups_.empty() ? 560 : std::max(320.0, group_width(c) * double(c.groups_.size()));
  }
  /// Names of groups stand at a slant; the longest one says how much room they take.
  static double room_below(const chart& c) {
    std::size_t longest = 0;
    for (const auto& g : c.groups_) longest = std::max(longest, g.size());
    return c.groups_.empty() ? 46 : 24 + 0.75 * letter * double(longest);
  }
  static double legend_rows(const chart& c) {
    double at = 0, rows = c.series_.empty() ? 0 : 1;
    for (const auto& s : c.series_) {
      const double wide = 30 + letter * double(s.name.size());
      if (at > 0 && at + wide > plot_width(c)) {
        at = 0;
        ++rows;
      }
      at += wide;
    }
    return rows;
  }

  explicit drawing(const chart& made)
      : c(made), x(made.x_.fitted(values(made, true))), y(made.y_.fitted(values(made, false))),
        bar_series(count_bars(made)), width(plot_width(made)),
        group(width / double(std::max<std::size_t>(1, made.groups_.size()))), bottom(room_below(made)),
        out(left + width + right, top + plot_height + bottom + 20 * legend_rows(made) + 8, made.title_) {}

  double at_x(double v) const { return left + width * x.place(v); }
  double at_y(double v) const { return top + plot_height * (1 - std::clamp(y.place(v), -0.02, 1.02)); }

  void frame() {
    out.text(left, 22, c.title_, {{"font-size", 15.0}, {"font-weight", "600"}, {"fill", grey}});
    if (!c.remark_.empty()) out.text(left, 40, c.remark_, {{"fill", grey}});
    out.open("g", {{"stroke", grey}, {"stroke-opacity", "0.25"}});
    for (const double v : y.ticks(6))
      out.element("line", {{"x1", left}, {"x2", left + width}, {"y1", at_y(v)}, {"y2", at_y(v)}});
    if (c.groups_.empty())
      for (const double v : x.ticks(8))
        out.element("line", {{"x1", at_x(v)}, {"x2", at_x(v)}, {"y1", top}, {"y2", top + plot_height}});
    out.close("g");
    out.open("g", {{"fill", grey}});
    for (const double v : y.ticks(6)) out.text(left - 6, at_y(v) + 4, short_text(v), {{"text-anchor", "end"}});
    const std::string turned = fmt::format("rotate(-90 14 {})", coordinate(top + plot_height / 2));
    out.text(14, top + plot_height / 2, y.label, {{"text-anchor", "middle"}, {"transform", turned}});
    if (c.groups_.empty()) {
      for (const double v : x.ticks(8))
        out.text(at_x(v), top + plot_height + 16, short_text(v), {{"text-anchor", "middle"}});
      out.text(left + width / 2, top + plot_height + 36, x.label, {{"text-anchor", "middle"}});
    }
    for (std::size_t g = 0; g < c.groups_.size(); ++g) {
      const double px = left + group * (double(g) + 0.5), py = top + plot_height + 14;
      const std::string slant = fmt::format("rotate(-45 {} {})", coordinate(px), coordinate(py));
      out.text(px, py, c.groups_[g], {{"text-anchor", "end"}, {"transform", slant}});
    }
    out.close("g");
  }

  void bars(const chart::series& s, std::size_t rank) {
    for (std::size_t g = 0; g < std::min(s.data.size(), c.groups_.size()); ++g) {
      const auto& p = s.data[g];
      if (!y.takes(p.y)) continue;
      const double wide = (group - 10) / double(bar_series), px = left + group * double(g) + 5 + wide * double(rank);
      const double zero = y.kind == scale::linear ? std::clamp(0.0, y.low, y.high) : y.low;
      const double from = std::min(at_y(p.y), at_y(zero));
      out.element(
          "rect",
          {{"x", px}, {"y", from}, {"width", std::max(1.0, wide - 1)}, {"height", std::abs(at_y(p.y) - at_y(zero))}},
          fmt::format("{}, {}: {}", c.groups_[g], s.name, short_text(p.y)));
    }
  }

  void line(const chart::series& s) {
    std::string path;
    bool pen = false;
    for (const auto& p : s.data) {
      const bool there = x.takes(p.x) && y.takes(p.y);
      if (there) path += fmt::format("{}{} {} ", pen ? "L" : "M", coordinate(at_x(p.x)), coordinate(at_y(p.y)));
      pen = there;
    }
    if (!path.empty()) out.element("path", {{"d", path}, {"fill", "none"}, {"stroke-width", 2.0}}, s.name);
  }

  void dots(const chart::series& s) {
    for (const auto& p : s.data)
      if (x.takes(p.x) && y.takes(p.y))
        out.element("circle", {{"cx", at_x(p.x)}, {"cy", at_y(p.y)}, {"r", 3.5}, {"fill-opacity", "0.8"}},
                    p.hint.empty() ? s.name : fmt::format("{}: {}", s.name, p.hint));
  }

  void legend() {
    double at = left, row = top + plot_height + bottom + 14;
    for (std::size_t k = 0; k < c.series_.size(); ++k) {
      const double wide = 30 + letter * double(c.series_[k].name.size());
      if (at > left && at + wide > left + width) {
        at = left;
        row += 20;
      }
      out.element("rect", {{"x", at}, {"y", row - 9}, {"width", 10.0}, {"height", 10.0}, {"fill", colour(k)}});
      out.text(at + 15, row, c.series_[k].name, {{"fill", grey}});
      at += wide;
    }
  }

  std::string draw() {
    frame();
    std::size_t rank = 0;
    for (std::size_t k = 0; k < c.series_.size(); ++k) {
      const auto& s = c.series_[k];
      const bool is_line = s.kind == chart::mark::line;
      out.open("g", {{is_line ? "stroke" : "fill", colour(k)}});
      if (s.kind == chart::mark::bars) bars(s, rank++);
      else if (is_line) line(s);
      else dots(s);
      out.close("g");
    }
    legend();
    return out.finish();
  }
};

chart::chart(std::string title, axis x, axis y) : title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

chart::chart(std::string title, std::vector<std::string> groups, axis y)
    : title_(std::move(title)), y_(std::move(y)), groups_(std::move(groups)) {}

void chart::line(std::string name, std::vector<point> points) {
  series_.push_back({mark::line, std::move(name), std::move(points)});
}

void chart::points(std::string name, std::vector<point> points) {
  series_.push_back({mark::points, std::move(name), std::move(points)});
}

void chart::bars(std::string name, const std::vector<double>& values) {
  std::vector<point> data;
  for (std::size_t g = 0; g < values.size(); ++g) data.push_back({double(g), values[g], {}});
  series_.push_back({mark::bars, std::move(name), std::move(data)});
}

std::string chart::svg() const { return drawing(*this).draw(); }

} // namespace furrow::picture
