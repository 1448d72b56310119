// SPDX-License-Identifier: BSD-3-Clause
#include "spy.hpp"
#include "text.hpp"

#include "picture/colours.hpp"
#include "picture/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace furrow::cli {
namespace {

/// Entries of a wide x high grid over the matrix.
struct grid {
  index_t wide, high;
  std::vector<index_t> count;

  grid(const coo<double>& a, index_t wide, index_t high)
      : wide(wide), high(high), count(static_cast<std::size_t>(wide * high), 0) {
    for (index_t k = 0; k < a.nnz(); ++k)
      ++count[a.row[k] * high / a.shape.rows * wide + a.col[k] * wide / a.shape.cols];
  }
  index_t at(index_t x, index_t y) const { return x < wide && y < high ? count[y * wide + x] : 0; }
};

/// Dots of the larger side, and of the other one in proportion.
shape2 dots(shape2 shape, index_t most) {
  const double scale = std::min(1.0, double(most) / double(std::max(shape.rows, shape.cols)));
  const auto scaled = [&](index_t n) { return std::max<index_t>(1, std::llround(double(n) * scale)); };
  return {scaled(shape.rows), scaled(shape.cols)};
}

std::string braille(const grid& g, index_t x, index_t y) {
  constexpr int bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  int letter = 0x2800;
  for (int dy = 0; dy < 4; ++dy)
    for (int dx = 0; dx < 2; ++dx)
      if (g.at(2 * x + dx, 4 * y + dy)) letter |= bit[dy][dx];
  return {static_cast<char>(0xe0 | letter >> 12), static_cast<char>(0x80 | (letter >> 6 & 0x3f)),
          static_cast<char>(0x80 | (letter & 0x3f))};
}

std::string repeat(std::string_view text, index_t times) {
  std::string all;
  for (index_t k = 0; k < times; ++k) all += text;
  return all;
}

std::string framed(const std::vector<std::string>& lines, index_t width, bool ascii) {
  const std::string edge = repeat(ascii ? "-" : "─", width), side = ascii ? "|" : "│";
  std::string text = fmt::format(fmt::runtime(ascii ? "+{}+\n" : "┌{}┐\n"), edge);
  for (const auto& l : lines) text += fmt::format("{}{}{}\n", side, l, side);
  return text + fmt::format(fmt::runtime(ascii ? "+{}+\n" : "└{}┘\n"), edge);
}

/// Cells in four steps by how full they are beside the fullest one; 0: empty.
constexpr std::array<double, 3> step_ends{1.0 / 16, 1.0 / 4, 1.0 / 2};
std::size_t step_of(index_t count, index_t most) {
  if (count == 0) return 0;
  return 1 + static_cast<std::size_t>(
                 std::ranges::count_if(step_ends, [&](double end) { return double(count) > end * double(most); }));
}

/// The cells of one step as one path, neighbours in a row joined.
std::string path_of(const grid& g, const std::vector<std::size_t>& steps, std::size_t step, double x0, double y0,
                    double cell) {
  std::string path;
  const auto at = [&](index_t x, index_t y) { return steps[y * g.wide + x]; };
  for (index_t y = 0; y < g.high; ++y)
    for (index_t x = 0; x < g.wide;) {
      const index_t first = x;
      while (x < g.wide && at(x, y) == step) ++x;
      if (x > first)
        path += fmt::format("M{} {}h{}v{}h{}z", picture::coordinate(x0 + cell * double(first)),
                            picture::coordinate(y0 + cell * double(y)), picture::coordinate(cell * double(x - first)),
                            picture::coordinate(cell), picture::coordinate(-cell * double(x - first)));
      else ++x;
    }
  return path;
}

} // namespace

std::string spy_picture(const coo<double>& a, const std::string& name) {
  constexpr double side = 512, left = 24, top = 76, least_side = 6;
  constexpr index_t most_cells = 256;
  constexpr std::array<const char*, 4> opacity{"0.3", "0.5", "0.75", "1"};
  const shape2 size = dots(a.shape, most_cells);
  const double cell = side / double(std::max(size.rows, size.cols));
  const double wide = std::max(least_side, cell * double(size.cols)),
               high = std::max(least_side, cell * double(size.rows));
  const double places = double(a.shape.rows) * double(a.shape.cols);
  const bool every_entry = size.rows == a.shape.rows && size.cols == a.shape.cols;

  picture::svg out(std::max(left + wide + 24, 420.0), top + high + 44, fmt::format("Entries of {}", name));
  out.text(left, 22, name, {{"font-size", 15.0}, {"font-weight", "600"}, {"fill", picture::grey}});
  out.text(left, 40,
           fmt::format("{} x {}, {} entries{}", count_text(a.shape.rows), count_text(a.shape.cols), count_text(a.nnz()),
                       places > 0 ? fmt::format(", {:.3g} % of all places", 100 * double(a.nnz()) / places) : ""),
           {{"fill", picture::grey}});
  out.text(left, top - 8, "1", {{"fill", picture::grey}});
  out.text(left + wide, top - 8, count_text(a.shape.cols), {{"fill", picture::grey}, {"text-anchor", "end"}});
  const std::string turned =
      fmt::format("rotate(-90 {} {})", picture::coordinate(left - 8), picture::coordinate(top + high));
  out.text(left - 8, top + high, count_text(a.shape.rows), {{"fill", picture::grey}, {"transform", turned}});
  index_t most = 1; // entries of the fullest cell
  if (places > 0) {
    const grid g(a, size.cols, size.rows);
    most = std::ranges::max(g.count);
    std::vector<std::size_t> steps(g.count.size());
    for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = step_of(g.count[k], most);
    out.open("g", {{"fill", "#3b82c4"}, {"shape-rendering", "crispEdges"}});
    for (std::size_t step = 1; step <= opacity.size(); ++step)
      if (const std::string path = path_of(g, steps, step, left, top, cell); !path.empty())
        out.element("path", {{"d", path}, {"fill-opacity", opacity[step - 1]}});
    out.close("g");
  }
  out.element(
      "rect",
      {{"x", left}, {"y", top}, {"width", wide}, {"height", high}, {"fill", "none"}, {"stroke", picture::grey}});
  double at = left;
  const double row = top + high + 24;
  const auto key = [&](const char* opaque, const std::string& words) {
    out.element(
        "rect",
        {{"x", at}, {"y", row - 9}, {"width", 10.0}, {"height", 10.0}, {"fill", "#3b82c4"}, {"fill-opacity", opaque}});
    out.text(at + 15, row, words, {{"fill", picture::grey}});
    at += 30 + 7 * double(words.size());
  };
  if (every_entry) {
    key("1", "entry");
  } else {
    const double fullest = 100 * double(most) * double(size.rows) * double(size.cols) / places;
    const auto up_to = [&](double share) { return fmt::format("up to {:.2g} %", fullest * share); };
    for (std::size_t k = 0; k < step_ends.size(); ++k) key(opacity[k], up_to(step_ends[k]));
    key(opacity.back(), up_to(1));
  }
  return out.finish();
}

std::string spy(const coo<double>& a, int columns, bool ascii) {
  if (a.shape.rows == 0 || a.shape.cols == 0) return {};
  const index_t inner = std::max(columns - 2, 4);
  std::vector<std::string> lines;
  if (ascii) { // a letter is twice as high as wide
    const shape2 size = dots(a.shape, inner);
    const grid g(a, size.cols, (size.rows + 1) / 2);
    const double part = double(a.shape.rows) * double(a.shape.cols) / double(g.wide * g.high);
    for (index_t y = 0; y < g.high; ++y) {
      lines.emplace_back();
      for (index_t x = 0; x < g.wide; ++x) {
        const double full = double(g.at(x, y)) / part;
        lines.back() += full == 0 ? ' ' : full < 0.01 ? '.' : full < 0.1 ? ':' : full < 0.5 ? '+' : '#';
      }
    }
    return framed(lines, g.wide, true);
  }
  const shape2 size = dots(a.shape, 2 * inner);
  const grid g(a, size.cols, size.rows);
  for (index_t y = 0; 4 * y < g.high; ++y) {
    lines.emplace_back();
    for (index_t x = 0; 2 * x < g.wide; ++x) lines.back() += braille(g, x, y);
  }
  return framed(lines, (g.wide + 1) / 2, false);
}

} // namespace furrow::cli
