// SPDX-License-Identifier: BSD-3-Clause
#include "header.hpp"

#include "refuse.hpp"
#include "scan_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::io {
namespace {

using std::string_view;

constexpr index_t largest_side = std::numeric_limits<std::int32_t>::max();

string_view without_mark(string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

std::string lower(string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

std::vector<string_view> words_of(string_view line) {
  std::vector<string_view> out;
  for (std::size_t at = 0; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    const std::size_t from = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    out.push_back(line.substr(from, at - from));
  }
  return out;
}

/// One after the other the lines of a text, with their numbers.
struct line_reader {
  string_view text;
  bool complete;
  std::size_t at = 0;
  index_t number = 0;

  std::optional<string_view> next() {
    if (at >= text.size()) return {};
    const std::size_t end = text.find('\n', at);
    if (end == string_view::npos && !complete) return {};
    const string_view line = text.substr(at, end == string_view::npos ? end : end - at);
    at = std::min(text.size(), end == string_view::npos ? end : end + 1);
    ++number;
    return line;
  }
};

matrix_header parse_banner(string_view line, const std::string& file, index_t number) {
  std::vector<std::string> words;
  for (const string_view w : words_of(line)) words.push_back(lower(w));
  if (words.size() != 5)
    refuse(file, number,
           fmt::format("the banner has {} words instead of five: %%MatrixMarket matrix coordinate real general",
                       words.size()));
  matrix_header head;
  if (words[1] != "matrix")
    refuse(file, number, fmt::format("the object {} is not supported, only 'matrix' is", in_quotes(words[1])));
  if (words[2] == "coordinate") head.layout = matrix_header::layout::coordinate;
  else if (words[2] == "array") head.layout = matrix_header::layout::array;
  else refuse(file, number, fmt::format("the format {} is neither 'coordinate' nor 'array'", in_quotes(words[2])));
  if (words[3] == "real" || words[3] == "double") head.field = matrix_header::field::real;
  else if (words[3] == "integer" || words[3] == "unsigned-integer") head.field = matrix_header::field::integer;
  else if (words[3] == "pattern") head.field = matrix_header::field::pattern;
  else if (words[3] == "complex") refuse(file, number, "complex matrices are not supported yet");
  else refuse(file, number, fmt::format("the field {} is none of real, integer, pattern", in_quotes(words[3])));
  if (words[4] == "general") head.symmetry = matrix_header::symmetry::general;
  else if (words[4] == "symmetric") head.symmetry = matrix_header::symmetry::symmetric;
  else if (words[4] == "skew-symmetric") head.symmetry = matrix_header::symmetry::skew_symmetric;
  else if (words[4] == "hermitian")
    refuse(file, number, "hermitian matrices are not supported yet (where all values are real, say 'symmetric')");
  else
    refuse(file, number,
           fmt::format("the symmetry {} is none of general, symmetric, skew-symmetric", in_quotes(words[4])));
  if (head.field == matrix_header::field::pattern && head.layout == matrix_header::layout::array)
    refuse(file, number, "an array cannot be a pattern: it has nothing but values");
  if (head.field == matrix_header::field::pattern && head.symmetry == matrix_header::symmetry::skew_symmetric)
    refuse(file, number, "a pattern cannot be skew-symmetric: it has no signs");
  return head;
}

index_t parse_size(string_view word, string_view what, index_t limit, const std::string& file, index_t number) {
  double value = 0;
  if (read_integer(word, value) != io::number::good)
    refuse(file, number,
           fmt::format("the number of {} in the size line is {}, not a whole number", what, in_quotes(word)));
  if (value < 0) refuse(file, number, fmt::format("the number of {} is negative: {}", what, word));
  if (value > static_cast<double>(limit) && (limit == largest_side || value >= 0x1p63))
    refuse(file, number, fmt::format("{} {}: more than the {} that are supported", in_quotes(word), what, limit));
  index_t out = 0;
  for (const char c : word)
    if (is_digit(c)) {
      if (__builtin_mul_overflow(out, 10, &out) || __builtin_add_overflow(out, c - '0', &out))
        refuse(file, number, fmt::format("{} {}: more than the {} that are supported", in_quotes(word), what, limit));
    }
  return out;
}

void parse_sizes(matrix_header& head, string_view line, const std::string& file, index_t number) {
  const auto words = words_of(line);
  const bool dense = head.layout == matrix_header::layout::array;
  if (words.size() != (dense ? 2u : 3u))
    refuse(file, number,
           fmt::format("the size line has {} words, not {}", words.size(),
                       dense ? "two: rows columns" : "three: rows columns entries"));
  head.shape.rows = parse_size(words[0], "rows", largest_side, file, number);
  head.shape.cols = parse_size(words[1], "columns", largest_side, file, number);
  if (is_mirrored(head) && head.shape.rows != head.shape.cols)
    refuse(file, number,
           fmt::format("a {} matrix must be square, not {} x {}",
                       head.symmetry == matrix_header::symmetry::symmetric ? "symmetric" : "skew-symmetric",
                       head.shape.rows, head.shape.cols));
  const index_t n = head.shape.rows;
  if (!dense) head.stored = parse_size(words[2], "entries", std::numeric_limits<index_t>::max(), file, number);
  else if (head.symmetry == matrix_header::symmetry::general) head.stored = n * head.shape.cols;
  else if (head.symmetry == matrix_header::symmetry::symmetric) head.stored = n * (n + 1) / 2;
  else head.stored = n * (n - 1) / 2;
}

} // namespace

bool has_banner(string_view text) {
  text = without_mark(text.substr(0, 4096));
  while (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
  static constexpr string_view banner = "%%matrixmarket";
  return lower(text.substr(0, banner.size())) == banner &&
         (text.size() == banner.size() || is_blank(text[banner.size()]) || text[banner.size()] == '\n');
}

std::optional<head_lines> parse_head(string_view text, bool complete, const std::string& file) {
  const string_view clean = without_mark(text);
  line_reader lines{clean, complete};
  head_lines out;
  auto line = lines.next();
  if (!line) {
    if (!complete) return {};
    refuse(file, "the file is empty");
  }
  out.head = parse_banner(*line, file, 1);
  while ((line = lines.next())) {
    const std::size_t first =
        static_cast<std::size_t>(std::find_if_not(line->begin(), line->end(), is_blank) - line->begin());
    if (first == line->size() || (*line)[first] == '%') continue;
    parse_sizes(out.head, *line, file, lines.number);
    out.length = lines.at + (text.size() - clean.size());
    out.lines = lines.number;
    return out;
  }
  if (!complete) return {};
  refuse(file, lines.number, "the file ends before its size line");
}

std::string describe(const matrix_header& head) {
  static constexpr const char* layouts[] = {"coordinate", "array"};
  static constexpr const char* fields[] = {"real", "integer", "pattern"};
  static constexpr const char* symmetries[] = {"general", "symmetric", "skew-symmetric"};
  return fmt::format("{} {} {}", layouts[int(head.layout)], fields[int(head.field)], symmetries[int(head.symmetry)]);
}

void check_promise(const head_lines& lines, double text_bytes, const std::string& file) {
  const matrix_header& head = lines.head;
  // The shortest line of an entry: one character a number, one blank or line end behind each.
  const int shortest = head.layout == matrix_header::layout::array   ? 2
                       : head.field == matrix_header::field::pattern ? 4
                                                                     : 6;
  if (static_cast<double>(head.stored) * shortest > text_bytes + 1)
    refuse(file, lines.lines,
           fmt::format("the size line promises {} entries, for which the rest of the file is too short", head.stored));
  if (head.stored > 0 && (head.shape.rows == 0 || head.shape.cols == 0))
    refuse(file, lines.lines,
           fmt::format("a matrix of {} x {} cannot have {} entries", head.shape.rows, head.shape.cols, head.stored));
}

} // namespace furrow::io
