// SPDX-License-Identifier: BSD-3-Clause
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 says of the undefined operand inside its own AVX-512 intrinsics that it is uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "parse_lines.hpp"

#include "eight_lines.hpp"
#include "fast_line.hpp"
#include "line_ends.hpp"
#include "refuse.hpp"
#include "scan_number.hpp"

#include <fmt/format.h>

#include <atomic>

namespace furrow::io {
namespace {

using field = enum matrix_header::field;

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// One blank and then a digit, nearly always. A carriage return is no gap between numbers: where one stands alone, it
/// may be meant as a line end.
inline const char* gap(const char* p) {
  if (*p == ' ' && !is_blank(p[1])) [[likely]]
    return p + 1;
  while (is_blank(*p) && *p != '\r') ++p;
  return p;
}

std::atomic<line_scan>& most_scan() { // for tests
  static std::atomic<line_scan> most = line_scan::by_eight;
  return most;
}

/// OneIndex: lines "index value" or "index" of a vector.
template <bool Valued, bool OneIndex = false>
bool parse_coordinates(shape2 shape, const char* p, const char* end, scratch& to, index_t& count) {
  const power_table& powers = powers_of_five();
  const auto rows = static_cast<std::uint64_t>(shape.rows), cols = static_cast<std::uint64_t>(shape.cols);
  std::int32_t* const row = to.row.data();
  std::int32_t* const col = to.col.data();
  double* const val = to.val.data();
  index_t k = 0;
  bool good = true;
  const line_scan scan = OneIndex ? line_scan::by_number : std::min(fastest_scan(), most_scan().load());
  const bool by_eight = scan == line_scan::by_eight;
  const char* const safe =
      scan == line_scan::by_number ? end : p + 16; // from where scan_line may be used: it looks back
  index_t next_try = 0;                            // where lines were not as usual, the next ones are read one by one
  while (p < end) {
    if (by_eight && k >= next_try) {
      p = scan_by_eight<Valued>(p, end, shape, to, k, powers);
      next_try = k + 8;
      if (p == end) break;
    }
    if (has_fast_line && p >= safe) [[likely]] {
      fast_line line;
      const char* const next = scan_line<Valued>(p, line, powers);
      if (next && line.row - 1 < rows && line.col - 1 < cols) [[likely]] {
        row[k] = static_cast<std::int32_t>(line.row - 1);
        col[k] = static_cast<std::int32_t>(line.col - 1);
        if constexpr (Valued) val[k] = line.value;
        ++k;
        p = next;
        continue;
      }
    }
    if (!is_digit(*p)) [[unlikely]] {
      p = skip_blanks(p);
      if (*p == '\n') {
        ++p;
        continue;
      }
    }
    std::uint64_t i = 0, j = 0;
    good = false;
    if (!scan_index(p, i) || i - 1 >= rows) break;
    if constexpr (!OneIndex) {
      if (!is_blank(*p)) break;
      p = gap(p);
      if (!scan_index(p, j) || j - 1 >= cols) break;
    }
    if constexpr (Valued) {
      if (!is_blank(*p)) break;
      p = gap(p);
      p = scan_real(p, val[k], powers);
      if (!p) break;
    }
    if (*p != '\n') [[unlikely]] {
      p = skip_blanks(p);
      if (*p != '\n') break;
    }
    ++p;
    row[k] = static_cast<std::int32_t>(i - 1);
    if constexpr (!OneIndex) col[k] = static_cast<std::int32_t>(j - 1);
    ++k;
    good = true;
  }
  count = k;
  return good;
}

bool parse_values(const char* p, const char* end, scratch& to, index_t& count) {
  const power_table& powers = powers_of_five();
  double* const val = to.val.data();
  index_t k = 0;
  bool good = true;
  while (p < end) {
    p = skip_blanks(p);
    if (*p == '\n') {
      ++p;
      continue;
    }
    if (*p == '%') [[unlikely]] {
      p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p))) + 1;
      continue;
    }
    p = scan_real(p, val[k], powers);
    if (p) p = skip_blanks(p);
    good = p && *p == '\n';
    if (!good) break;
    ++p;
    ++k;
  }
  count = k;
  return good;
}

std::string explain_index(std::string_view word, const char* what, index_t limit, std::int32_t& index) {
  double value = 0;
  if (read_integer(word, value) != number::good) return fmt::format("{} is no {}index", in_quotes(word), what);
  if (value < 1 || value > static_cast<double>(limit))
    return fmt::format("the {}index {} is outside 1 to {}", what, in_quotes(word), limit);
  index = static_cast<std::int32_t>(value) - 1;
  return word[0] == '-' ? fmt::format("the {}index {} is negative", what, in_quotes(word)) : "";
}

} // namespace

line_scan fastest_scan() {
  return has_eight_lines() ? line_scan::by_eight : has_fast_line ? line_scan::by_line : line_scan::by_number;
}

scanning_at_most::scanning_at_most(line_scan most) : before_(most_scan().exchange(most)) {}
scanning_at_most::~scanning_at_most() { most_scan() = before_; }

void scratch::reserve(const matrix_header& head, bool one_index, index_t bytes) {
  const bool dense = head.layout == matrix_header::layout::array;
  const index_t most = bytes / (dense || one_index ? 2 : 4) + 1;
  if (!dense) row.resize(most), col.resize(most);
  if (head.field != field::pattern) val.resize(most);
}

bool parse_lines(const matrix_header& head, bool one_index, const char* text, const char* end, scratch& to,
                 index_t& count) {
  const bool pattern = head.field == field::pattern;
  if (head.layout == matrix_header::layout::array) return parse_values(text, end, to, count);
  if (one_index)
    return pattern ? parse_coordinates<false, true>(head.shape, text, end, to, count)
                   : parse_coordinates<true, true>(head.shape, text, end, to, count);
  return pattern ? parse_coordinates<false>(head.shape, text, end, to, count)
                 : parse_coordinates<true>(head.shape, text, end, to, count);
}

line_report explain_line(const matrix_header& head, bool one_index, std::string_view line) {
  line_report out;
  std::string_view words[5];
  std::size_t n = 0;
  for (std::size_t at = 0; at < line.size() && n < 5;) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    words[n++] = line.substr(from, at - from);
  }
  const bool dense = head.layout == matrix_header::layout::array;
  out.blank = n == 0 || (dense && words[0][0] == '%');
  if (out.blank) return out;
  if (words[0][0] == '%') {
    out.wrong = "a comment between the entries: comments belong before the size line";
    return out;
  }
  if (has_inner_return(line)) {
    out.wrong = about_inner_return;
    return out;
  }
  const bool valued = head.field != field::pattern;
  const std::size_t indices = dense ? 0 : one_index ? 1 : 2;
  if (n != indices + valued) {
    static constexpr const char* needs[3][2] = {{"", "one value"},
                                                {"one number: index", "two numbers: index value"},
                                                {"two numbers: row column", "three numbers: row column value"}};
    out.wrong = fmt::format("an entry is a line of {}; this one has {}{}", needs[indices][valued],
                            n > 4 ? "more than four words" : fmt::format("{} word", n), n == 1 || n > 4 ? "" : "s");
    return out;
  }
  if (indices > 0) out.wrong = explain_index(words[0], one_index ? "" : "row ", head.shape.rows, out.row);
  if (indices > 1 && out.wrong.empty()) out.wrong = explain_index(words[1], "column ", head.shape.cols, out.col);
  if (out.wrong.empty() && valued) {
    const std::string_view word = words[n - 1];
    const number kind = read_real(word, out.value);
    if (kind == number::malformed) out.wrong = fmt::format("the value {} is no number", in_quotes(word));
    if (kind == number::too_large) out.wrong = fmt::format("the value {} is too large for 64 bits", in_quotes(word));
  }
  return out;
}

} // namespace furrow::io
