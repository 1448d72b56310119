// SPDX-License-Identifier: BSD-3-Clause
#include "spy.hpp"

#include "picture/spy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace furrow::cli {
namespace {

using picture::dots, picture::grid;

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

} // namespace

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
