// SPDX-License-Identifier: BSD-3-Clause
#include "entries.hpp"
#include "refuse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::io {
namespace {

/// The checks of a whole body, line by line, as the parallel reader makes them piece by piece.
struct checker {
  const head_lines& lines;
  index_t entries;
  bool lower, upper;

  /// What is wrong with the next line; empty where nothing is.
  std::string check(std::string_view line) {
    const matrix_header& head = lines.head;
    const line_report report = explain_line(head, lines.one_index, line);
    if (!report.wrong.empty() || report.blank) return report.wrong;
    if (++entries > head.stored)
      return fmt::format("more entries than the {} that the size line promises", head.stored);
    if (head.layout == matrix_header::layout::array || !is_mirrored(head)) return {};
    lower |= report.row > report.col;
    upper |= report.row < report.col;
    if (lower && upper)
      return fmt::format("the file has entries below and above the diagonal, but says that it is {}: one triangle must "
                         "be left out",
                         head.symmetry == matrix_header::symmetry::symmetric ? "symmetric" : "skew-symmetric");
    return {};
  }
};

} // namespace

void diagnose(const text_origin& origin, const head_lines& lines, index_t begin, index_t before, bool lower,
              bool upper) {
  const auto in = origin.open();
  checker body{lines, before, lower, upper};
  std::vector<char> buffer(std::size_t(1) << 16);
  std::string line;
  index_t at = 0, number = 1; // of the line that `line` begins
  bool dangling = false;      // a line without its end
  const auto finish_line = [&] {
    if (const std::string wrong = body.check(line); !wrong.empty()) refuse(origin.name, number, wrong);
    line.clear();
  };
  while (const std::size_t got = in->read_all(buffer.data(), buffer.size())) {
    const char *p = buffer.data(), *const end = p + got;
    if (at < begin) { // only count
      const char* const to = p + std::min<index_t>(end - p, begin - at);
      number += std::count(p, to, '\n');
      at += to - p;
      p = to;
    }
    while (p < end) {
      const char* const stop = std::find(p, end, '\n');
      line.append(p, stop);
      dangling = stop == end;
      at += stop - p + !dangling;
      p = stop + !dangling;
      if (dangling) break;
      finish_line();
      ++number;
    }
  }
  if (dangling) finish_line();
  refuse(origin.name, dangling || number == 1 ? number : number - 1,
         fmt::format("the file ends after {} of the {} entries that its size line promises", body.entries,
                     lines.head.stored));
}

} // namespace furrow::io
