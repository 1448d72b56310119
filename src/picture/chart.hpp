// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis.hpp"

#include <string>
#include <vector>

/// Charts as SVG files: text stays text, no background, greys and colours that read on white and on black.
namespace furrow::picture {

struct point {
  double x = 0, y = 0;
  std::string hint{};  ///< shown when the mouse rests on it
  std::string label{}; ///< written beside it where there is room
};

/// Lines, points and bars over two axes, with a legend of the series in the order of their arrival.
///
///   chart c("Roofline", {"flops / byte", scale::logarithmic}, {"GFLOP/s", scale::logarithmic});
///   c.guide("memory, 46 GB/s", {0.01, 0.46}, {1, 46});
///   c.points("csr", {{0.16, 7, "cant", "cant"}});
///   write(file, c.svg());
///
/// A chart of bars names its groups instead of an x axis; each series has one value a group. Values without a place on
/// an axis (NaN, or not positive on a logarithmic one) are left out. A series has the colour of its name in every
/// chart.
class chart {
public:
  chart(std::string title, axis x, axis y);
  chart(std::string title, std::vector<std::string> groups, axis y);

  /// Neighbours joined; a value that is left out is a gap. A point with a hint shows it.
  void line(std::string name, std::vector<point> points);
  void points(std::string name, std::vector<point> points);
  /// One value a group.
  void bars(std::string name, const std::vector<double>& values);
  /// A cross in place of the bar of the series `name` in a group, and why there is none.
  void refusal(std::string name, std::size_t group, std::string why);
  /// A dashed line between two points with its name on it, near `to`; not in the legend.
  void guide(std::string name, point from, point to);
  /// A sentence below the title.
  enum class tone { plain, good, bad };
  void remark(std::string text, tone how = tone::plain) { remark_ = std::move(text), tone_ = how; }

  /// What the groups are, written below their names.
  void groups_are(std::string what) { x_.label = std::move(what); }

  /// Of a plot without groups; 560 where nothing is said.
  void width(double plot) { width_ = plot; }

  std::string svg() const;

  /// The plot on the paper of `svg`, and what its sides stand for.
  struct frame {
    double left, right, top, bottom;
    axis x, y;
  };
  frame place() const;

private:
  enum class mark { line, points, bars };
  struct series {
    mark kind;
    std::string name;
    std::vector<point> data;
  };
  struct cross {
    std::string series;
    std::size_t group;
    std::string why;
  };
  struct dashes {
    std::string name;
    point from, to;
  };
  friend struct drawing;

  std::string title_, remark_;
  tone tone_ = tone::plain;
  double width_ = 560;
  axis x_, y_;
  std::vector<std::string> groups_;
  std::vector<series> series_;
  std::vector<cross> crosses_;
  std::vector<dashes> guides_;
};

} // namespace furrow::picture
