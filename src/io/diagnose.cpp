// SPDX-License-Identifier: BSD-3-Clause
#include "entries.hpp"
#include "refuse.hpp"

#include "core/counted.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::io {
namespace {

/// The checks of a body, line by line, as the parallel reader makes them piece by piece.
struct checker {
  const head_lines& lines;
  account seen;

  /// What is wrong with the next line; empty where nothing is.
  std::string check(std::string_view line) {
    const matrix_header& head = lines.head;
    const line_report report = explain_line(head, lines.one_index, line);
    if (!report.wrong.empty() || report.blank) return report.wrong;
    if (++seen.entries > head.stored)
      return fmt::format("more entries than the {} that the size line promises", head.stored);
    if (head.layout == matrix_header::layout::array || !is_mirrored(head)) return {};
    seen.lower |= report.row > report.col;
    seen.upper |= report.row < report.col;
    if (seen.lower && seen.upper)
      return fmt::format("the file has entries below and above the diagonal, but says that it is {}: one triangle must "
                         "be left out",
                         head.symmetry == matrix_header::symmetry::symmetric ? "symmetric" : "skew-symmetric");
    return {};
  }
};

} // namespace

bool account::add(const block& b, index_t promised) {
  if (!b.good || entries + b.count > promised || ((lower || b.lower) && (upper || b.upper))) return false;
  entries += b.count;
  lower |= b.lower, upper |= b.upper;
  return true;
}

void diagnose(const std::string& name, const head_lines& lines, byte_stream& rest, index_t number, account before) {
  checker body{lines, before};
  std::vector<char> buffer(std::size_t(1) << 16);
  std::string line;
  bool dangling = false; // a line without its end
  const auto finish_line = [&] {
    if (const std::string wrong = body.check(line); !wrong.empty()) refuse(name, number, wrong);
    line.clear();
  };
  while (const std::size_t got = rest.read_all(buffer.data(), buffer.size())) {
    const char *p = buffer.data(), *const end = p + got;
    while (p < end) {
      const char* const stop = std::find(p, end, '\n');
      line.append(p, stop);
      dangling = stop == end;
      p = stop + !dangling;
      if (dangling) break;
      finish_line();
      ++number;
    }
  }
  if (dangling) finish_line();
  refuse_short(name, dangling ? number : number - 1, body.seen.entries, lines.head.stored);
}

void refuse_short(const std::string& name, index_t number, index_t entries, index_t promised) {
  refuse(
      name, number,
      fmt::format("the file ends after {} of the {} that its size line promises", entries, counted(promised, "entry")));
}

} // namespace furrow::io
