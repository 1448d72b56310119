// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis.hpp"

#include <string>
#include <vector>

/// Charts as SVG files: text stays text, no background, greys and colours that read on white and on black.
namespace furrow::picture {

struct point {
  double x = 0, y = 0;
  std::string hint{}; ///< shown when the mouse rests on it
};

/// Lines, points and bars over two axes, with a legend of the series in the order of their arrival.
///
///   chart c("Roofline", {"flops / byte", scale::logarithmic}, {"GFLOP/s", scale::logarithmic});
///   c.line("read ceiling", {{0.01, 46}, {1, 4600}});
///   c.points("csr", {{0.16, 640, "cant"}});
///   write(file, c.svg());
///
/// A chart of bars names its groups instead of an x axis; each series has one value a group. Values without a place on
/// an axis (NaN, or not positive on a logarithmic one) are left out.
class chart {
public:
  chart(std::string title, axis x, axis y);
  chart(std::string title, std::vector<std::string> groups, axis y);

  /// Neighbours joined; a value that is left out is a gap.
  void line(std::string name, std::vector<point> points);
  void points(std::string name, std::vector<point> points);
  /// One value a group.
  void bars(std::string name, const std::vector<double>& values);
  void remark(std::string text) { remark_ = std::move(text); } ///< a line below the title

  std::string svg() const;

private:
  enum class mark { line, points, bars };
  struct series {
    mark kind;
    std::string name;
    std::vector<point> data;
  };
  friend struct drawing;

  std::string title_, remark_;
  axis x_, y_;
  std::vector<std::string> groups_;
  std::vector<series> series_;
};

} // namespace furrow::picture
