// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/io.hpp>

namespace furrow::io {

/// Room of one thread for the entries of one piece of text.
struct scratch {
  host_array<std::int32_t> row, col;
  host_array<double> val;

  void reserve(const matrix_header& head, bool one_index, index_t bytes);
};

/// Reads the lines of [text, end), one entry a line (coordinate) or one value a line (array), into `to` from its start.
/// `one_index`: an entry is "index value", as in the coordinate file of a vector; it becomes row and value. Blank lines
/// are skipped, and in an array comments too. Stops at the first line that is wrong and returns false. Needs end[-1] ==
/// '\n' and 64 readable bytes behind `end`. One pass; 10 to 20 ns an entry.
bool parse_lines(const matrix_header& head, bool one_index, const char* text, const char* end, scratch& to,
                 index_t& count);

/// The ways to scan the lines of coordinate files. Each one leaves what is not of the usual form to those before it, so
/// that all of them read the same.
enum class line_scan { by_number, by_line, by_eight };
/// The fastest one of this processor.
line_scan fastest_scan();

/// While one lives, lines are scanned in no faster way: so tests run all of them on one processor.
class scanning_at_most {
public:
  explicit scanning_at_most(line_scan most);
  scanning_at_most(const scanning_at_most&) = delete;
  scanning_at_most& operator=(const scanning_at_most&) = delete;
  ~scanning_at_most();

private:
  line_scan before_;
};

/// What is wrong with one line without its end; empty where nothing is. `row` and `col` (from 0) are set for an entry,
/// `blank` for a line without one.
struct line_report {
  std::string wrong;
  bool blank = false;
  std::int32_t row = 0, col = 0;
  double value = 1;
};
line_report explain_line(const matrix_header& head, bool one_index, std::string_view line);

} // namespace furrow::io
