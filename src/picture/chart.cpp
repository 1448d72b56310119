// SPDX-License-Identifier: BSD-3-Clause
#include "chart.hpp"
#include "colours.hpp"
#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow::picture {
namespace {

constexpr double left = 72, right = 16, plot_height = 320, bar_width = 9, letter = 6.6, line_height = 16;

/// `text` in lines of at most that many letters, cut at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.size();
    if (end - begin > most) {
      end = text.rfind(' ', begin + most);
      if (end == text.npos || end <= begin) end = begin + most;
    }
    lines.push_back(text.substr(begin, end - begin));
    begin = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
  }
  return lines;
}

/// A part of the paper that something is written on.
struct box {
  double left, right, top, bottom;
  bool meets(const box& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
};

} // namespace

/// What one call of `svg` works out: ranges, sizes, places on the paper.
struct drawing {
  const chart& c;
  axis x, y;
  std::size_t bar_series = 0;
  double width = 0, group = 0, bottom = 0; ///< of the plot; of a group of bars; below the plot
  std::vector<std::string> remarks;
  double top = 0;
  std::vector<std::string> colours; ///< of the series
  std::vector<box> taken;           ///< by dots and labels
  picture::svg out;

  static std::vector<double> values(const chart& c, bool of_x) {
    std::vector<double> all;
    for (const auto& s : c.series_)
      for (const auto& p : s.data)
        if (c.y_.takes(p.y) && (!c.groups_.empty() || c.x_.takes(p.x))) all.push_back(of_x ? p.x : p.y);
    for (const auto& g : c.guides_)
      for (const auto& p : {g.from, g.to}) all.push_back(of_x ? p.x : p.y);
    return all;
  }
  static std::size_t count_bars(const chart& c) {
    return static_cast<std::size_t>(std::ranges::count(c.series_, chart::mark::bars, &chart::series::kind));
  }
  static double group_width(const chart& c) { return bar_width * double(count_bars(c)) + 10; }
  static double plot_width(const chart& c) {
    return c.groups_.empty() ? c.width_ : std::max(320.0, group_width(c) * double(c.groups_.size()));
  }
  static double longest_group(const chart& c) {
    std::size_t longest = 0;
    for (const auto& g : c.groups_) longest = std::max(longest, g.size());
    return letter * double(longest);
  }
  /// Names of groups stand at a slant where they are wider than their group.
  static bool slants(const chart& c) {
    return !c.groups_.empty() && longest_group(c) > plot_width(c) / double(c.groups_.size()) - 6;
  }
  static double room_below(const chart& c) {
    const double names = slants(c) ? 24 + 0.75 * longest_group(c) : 24;
    return c.groups_.empty() ? 46 : names + (c.x_.label.empty() ? 0 : line_height);
  }
  /// One series that the axis names already needs no legend.
  static bool has_legend(const chart& c) {
    return !(c.series_.size() == 1 && c.series_.front().name == c.y_.label && c.crosses_.empty());
  }
  static double legend_rows(const chart& c) {
    if (!has_legend(c)) return 0;
    double at = 0, rows = c.series_.empty() ? 0 : 1;
    for (const auto& s : c.series_) {
      const double wide = 30 + letter * double(s.name.size());
      if (at > 0 && at + wide > plot_width(c)) {
        at = 0;
        ++rows;
      }
      at += wide;
    }
    return rows + (c.crosses_.empty() ? 0 : 1);
  }
  static std::vector<std::string> colours_of(const chart& c) {
    std::vector<std::string_view> names;
    names.reserve(c.series_.size());
    for (const auto& s : c.series_) names.emplace_back(s.name);
    return picture::colours_of(names);
  }

  explicit drawing(const chart& made)
      : c(made), x(made.x_.fitted(values(made, true))), y(made.y_.fitted(values(made, false))),
        bar_series(count_bars(made)), width(plot_width(made)),
        group(width / double(std::max<std::size_t>(1, made.groups_.size()))), bottom(room_below(made)),
        remarks(wrapped(made.remark_, static_cast<std::size_t>(width / letter))),
        top(42 + line_height * double(std::max<std::size_t>(1, remarks.size()))), colours(colours_of(made)),
        out(left + width + right, top + plot_height + bottom + 20 * legend_rows(made) + 8, made.title_) {}

  double at_x(double v) const { return left + width * x.place(v); }
  double at_y(double v) const { return top + plot_height * (1 - std::clamp(y.place(v), -0.02, 1.02)); }

  void frame() {
    out.text(left, 22, c.title_, {{"font-size", 15.0}, {"font-weight", "600"}, {"fill", grey}});
    const char* const tone = c.tone_ == chart::tone::good ? green : c.tone_ == chart::tone::bad ? red : grey;
    for (std::size_t k = 0; k < remarks.size(); ++k)
      out.text(left, 40 + line_height * double(k), remarks[k], {{"fill", tone}});
    out.open("g", {{"stroke", grey}, {"stroke-opacity", "0.25"}});
    for (const double v : y.ticks(6))
      out.element("line", {{"x1", left}, {"x2", left + width}, {"y1", at_y(v)}, {"y2", at_y(v)}});
    if (c.groups_.empty())
      for (const double v : x.ticks(static_cast<int>(width / 70)))
        out.element("line", {{"x1", at_x(v)}, {"x2", at_x(v)}, {"y1", top}, {"y2", top + plot_height}});
    out.close("g");
    out.open("g", {{"fill", grey}});
    for (const double v : y.ticks(6)) out.text(left - 6, at_y(v) + 4, short_text(v), {{"text-anchor", "end"}});
    const std::string turned = fmt::format("rotate(-90 14 {})", coordinate(top + plot_height / 2));
    out.text(14, top + plot_height / 2, y.label, {{"text-anchor", "middle"}, {"transform", turned}});
    if (c.groups_.empty()) {
      for (const double v : x.ticks(static_cast<int>(width / 70)))
        out.text(at_x(v), top + plot_height + 16, short_text(v), {{"text-anchor", "middle"}});
      out.text(left + width / 2, top + plot_height + 36, x.label, {{"text-anchor", "middle"}});
    }
    for (std::size_t g = 0; g < c.groups_.size(); ++g) {
      const double px = left + group * (double(g) + 0.5), py = top + plot_height + (slants(c) ? 14 : 16);
      const std::string slant = fmt::format("rotate(-45 {} {})", coordinate(px), coordinate(py));
      if (slants(c)) out.text(px, py, c.groups_[g], {{"text-anchor", "end"}, {"transform", slant}});
      else out.text(px, py, c.groups_[g], {{"text-anchor", "middle"}});
    }
    if (!c.groups_.empty() && !c.x_.label.empty())
      out.text(left + width / 2, top + plot_height + bottom - 8, c.x_.label, {{"text-anchor", "middle"}});
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

  void crosses() {
    for (const auto& cross : c.crosses_) {
      const auto at = std::ranges::find(c.series_, cross.series, &chart::series::name);
      if (at == c.series_.end()) continue;
      const auto rank = std::count_if(c.series_.begin(), at, [](const auto& s) { return s.kind == chart::mark::bars; });
      const double wide = (group - 10) / double(bar_series);
      const double px = left + group * double(cross.group) + 5 + wide * (double(rank) + 0.5) - 0.5;
      cross_at(px, top + plot_height - 5, colours[static_cast<std::size_t>(at - c.series_.begin())],
               fmt::format("{}, {}: {}", c.groups_[cross.group], cross.series, cross.why));
    }
  }

  void cross_at(double px, double py, const std::string& colour, const std::string& why) {
    constexpr double arm = 2.7;
    const std::string path =
        fmt::format("M{} {}l{} {}m0 {}l{} {}", coordinate(px - arm), coordinate(py - arm), coordinate(2 * arm),
                    coordinate(2 * arm), coordinate(-2 * arm), coordinate(-2 * arm), coordinate(2 * arm));
    out.element("path", {{"d", path}, {"stroke", colour}, {"stroke-width", 1.3}, {"fill", "none"}}, why);
  }

  void guides() {
    for (const auto& g : c.guides_) {
      const double x1 = at_x(g.from.x), y1 = at_y(g.from.y), x2 = at_x(g.to.x), y2 = at_y(g.to.y);
      out.element("line", {{"x1", x1},
                           {"y1", y1},
                           {"x2", x2},
                           {"y2", y2},
                           {"stroke", grey},
                           {"stroke-width", 1.5},
                           {"stroke-dasharray", "6 4"}});
      const bool to_the_left = x2 < x1;
      const double angle = to_the_left ? std::atan2(y1 - y2, x1 - x2) : std::atan2(y2 - y1, x2 - x1);
      const std::string slope =
          fmt::format("rotate({} {} {})", coordinate(angle * 180 / std::numbers::pi), coordinate(x2), coordinate(y2));
      out.text(to_the_left ? x2 + 4 : x2 - 4, y2 - 5, g.name,
               {{"fill", grey}, {"text-anchor", to_the_left ? "start" : "end"}, {"transform", slope}});
      // As boxes of a letter each, along the slope.
      const double step = (to_the_left ? letter : -letter) * std::cos(angle);
      for (std::size_t k = 0; k < g.name.size(); ++k) {
        const double px = x2 + step * double(k), py = y2 + (px - x2) * std::tan(angle);
        taken.push_back({px - letter, px + letter, py - 18, py});
      }
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
    for (const auto& p : s.data)
      if (!p.hint.empty() && x.takes(p.x) && y.takes(p.y))
        out.element("circle",
                    {{"cx", at_x(p.x)}, {"cy", at_y(p.y)}, {"r", 7.0}, {"stroke", "none"}, {"fill-opacity", "0"}},
                    p.hint);
  }

  void dots(const chart::series& s) {
    for (const auto& p : s.data) {
      if (!x.takes(p.x) || !y.takes(p.y)) continue;
      const double px = at_x(p.x), py = at_y(p.y);
      out.element("circle", {{"cx", px}, {"cy", py}, {"r", 3.5}, {"fill-opacity", "0.8"}},
                  p.hint.empty() ? s.name : fmt::format("{}: {}", s.name, p.hint));
      taken.push_back({px - 3, px + 3, py - 3, py + 3});
    }
  }

  /// To the right of their points, or to the left, above or below, or between these; nowhere where all is taken.
  void labels() {
    for (const auto& s : c.series_)
      for (const auto& p : s.data) {
        if (p.label.empty() || !x.takes(p.x) || !y.takes(p.y)) continue;
        const double px = at_x(p.x), py = at_y(p.y), wide = letter * double(p.label.size());
        const double before = -6 - wide, middle = -wide / 2;
        const std::pair<double, double> places[] = {{6, 4},  {before, 4},  {middle, -7}, {middle, 15},
                                                    {6, -4}, {before, -4}, {6, 12},      {before, 12}};
        for (const auto& [dx, dy] : places) {
          const box room{px + dx, px + dx + wide, py + dy - 10, py + dy + 2};
          if (room.left < left || room.right > left + width || room.top < top || room.bottom > top + plot_height ||
              std::ranges::any_of(taken, [&](const box& b) { return b.meets(room); }))
            continue;
          out.text(px + dx, py + dy, p.label, {{"fill", grey}, {"font-size", 11.0}});
          taken.push_back(room);
          break;
        }
      }
  }

  void legend() {
    if (!has_legend(c)) return;
    double at = left, row = top + plot_height + bottom + 14;
    for (std::size_t k = 0; k < c.series_.size(); ++k) {
      const double wide = 30 + letter * double(c.series_[k].name.size());
      if (at > left && at + wide > left + width) {
        at = left;
        row += 20;
      }
      out.element("rect", {{"x", at}, {"y", row - 9}, {"width", 10.0}, {"height", 10.0}, {"fill", colours[k]}});
      out.text(at + 15, row, c.series_[k].name, {{"fill", grey}});
      at += wide;
    }
    if (c.crosses_.empty()) return;
    cross_at(left + 5, row + 16, grey, {});
    out.text(left + 15, row + 20, "refused or left out: hold the mouse there to see why", {{"fill", grey}});
  }

  std::string draw() {
    frame();
    guides();
    std::size_t rank = 0;
    for (std::size_t k = 0; k < c.series_.size(); ++k) {
      const auto& s = c.series_[k];
      const bool is_line = s.kind == chart::mark::line;
      out.open("g", {{is_line ? "stroke" : "fill", colours[k]}});
      if (s.kind == chart::mark::bars) bars(s, rank++);
      else if (is_line) line(s);
      else dots(s);
      out.close("g");
    }
    crosses();
    labels();
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

void chart::refusal(std::string name, std::size_t group, std::string why) {
  crosses_.push_back({std::move(name), group, std::move(why)});
}

void chart::guide(std::string name, point from, point to) {
  guides_.push_back({std::move(name), std::move(from), std::move(to)});
}

std::string chart::svg() const { return drawing(*this).draw(); }

chart::frame chart::place() const {
  const drawing d(*this);
  return {left, left + d.width, d.top, d.top + plot_height, d.x, d.y};
}

} // namespace furrow::picture
