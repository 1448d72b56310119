// SPDX-License-Identifier: BSD-3-Clause
#include "spy.hpp"
#include "colours.hpp"
#include "svg.hpp"

#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace furrow::picture {

grid::grid(const coo<double>& a, index_t wide, index_t high)
    : wide(wide), high(high), count(static_cast<std::size_t>(wide * high), 0) {
  for (index_t k = 0; k < a.nnz(); ++k) ++count[a.row[k] * high / a.shape.rows * wide + a.col[k] * wide / a.shape.cols];
}

shape2 dots(shape2 shape, index_t most) {
  const double scale = std::min(1.0, double(most) / double(std::max(shape.rows, shape.cols)));
  const auto scaled = [&](index_t n) { return std::max<index_t>(1, std::llround(double(n) * scale)); };
  return {scaled(shape.rows), scaled(shape.cols)};
}

namespace {

/// Cells in four steps by how full they are beside the fullest one; 0: empty.
constexpr std::array<double, 3> step_ends{1.0 / 16, 1.0 / 4, 1.0 / 2};
std::size_t step_of(index_t count, index_t most) {
  if (count == 0) return 0;
  return 1 + static_cast<std::size_t>(
                 std::ranges::count_if(step_ends, [&](double end) { return double(count) > end * double(most); }));
}

/// The cells of one step as one path of strokes, neighbours in a row joined; a cell is one unit high and wide.
std::string path_of(const grid& g, const std::vector<std::size_t>& steps, std::size_t step) {
  std::string path;
  const auto at = [&](index_t x, index_t y) { return steps[y * g.wide + x]; };
  for (index_t y = 0; y < g.high; ++y)
    for (index_t x = 0; x < g.wide;) {
      const index_t first = x;
      while (x < g.wide && at(x, y) == step) ++x;
      if (x > first) path += fmt::format("M{} {}h{}", first, y, x - first);
      else ++x;
    }
  return path;
}

} // namespace

std::string spy(const coo<double>& a, const std::string& name, index_t most_cells, double side) {
  constexpr double left = 24, top = 76, least_side = 6;
  constexpr std::array<const char*, 4> opacity{"0.3", "0.5", "0.75", "1"};
  const shape2 size = dots(a.shape, most_cells);
  const double cell = side / double(std::max(size.rows, size.cols));
  const double wide = std::max(least_side, cell * double(size.cols)),
               high = std::max(least_side, cell * double(size.rows));
  const double places = double(a.shape.rows) * double(a.shape.cols);
  const bool every_entry = size.rows == a.shape.rows && size.cols == a.shape.cols;

  svg out(std::max(left + wide + 24, 420.0), top + high + 44, fmt::format("Entries of {}", name));
  out.text(left, 22, name, {{"font-size", 15.0}, {"font-weight", "600"}, {"fill", grey}});
  out.text(left, 40,
           fmt::format("{} x {}, {} entries{}", count_text(a.shape.rows), count_text(a.shape.cols), count_text(a.nnz()),
                       places > 0 ? fmt::format(", {:.3g} % of all places", 100 * double(a.nnz()) / places) : ""),
           {{"fill", grey}});
  out.text(left, top - 8, "1", {{"fill", grey}});
  out.text(left + wide, top - 8, count_text(a.shape.cols), {{"fill", grey}, {"text-anchor", "end"}});
  const std::string turned = fmt::format("rotate(-90 {} {})", coordinate(left - 8), coordinate(top + high));
  out.text(left - 8, top + high, count_text(a.shape.rows), {{"fill", grey}, {"transform", turned}});
  index_t most = 1; // entries of the fullest cell
  if (places > 0) {
    const grid g(a, size.cols, size.rows);
    most = std::ranges::max(g.count);
    std::vector<std::size_t> steps(g.count.size());
    for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = step_of(g.count[k], most);
    const std::string placed = fmt::format("translate({} {}) scale({} {}) translate(0 0.5)", coordinate(left),
                                           coordinate(top), wide / double(size.cols), high / double(size.rows));
    out.open("g", {{"stroke", "#3b82c4"}, {"shape-rendering", "crispEdges"}, {"transform", placed}});
    for (std::size_t step = 1; step <= opacity.size(); ++step)
      if (const std::string path = path_of(g, steps, step); !path.empty())
        out.element("path", {{"d", path}, {"stroke-opacity", opacity[step - 1]}});
    out.close("g");
  }
  out.element("rect", {{"x", left}, {"y", top}, {"width", wide}, {"height", high}, {"fill", "none"}, {"stroke", grey}});
  double at = left;
  const double row = top + high + 24;
  const auto key = [&](const char* opaque, const std::string& words) {
    out.element(
        "rect",
        {{"x", at}, {"y", row - 9}, {"width", 10.0}, {"height", 10.0}, {"fill", "#3b82c4"}, {"fill-opacity", opaque}});
    out.text(at + 15, row, words, {{"fill", grey}});
    at += 28 + 6.4 * double(words.size());
  };
  if (every_entry) {
    key("1", "entry");
  } else {
    const double fullest = 100 * double(most) * double(size.rows) * double(size.cols) / places;
    for (std::size_t k = 0; k < step_ends.size(); ++k)
      key(opacity[k], fmt::format("{}{:.2g} %", k == 0 ? "up to " : "", fullest * step_ends[k]));
    key(opacity.back(), fmt::format("{:.2g} %", fullest));
  }
  return out.finish();
}

} // namespace furrow::picture
