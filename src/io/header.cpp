// SPDX-License-Identifier: BSD-3-Clause
#include "header.hpp"

#include "line_ends.hpp"
#include "refuse.hpp"
#include "scan_number.hpp"

#include "core/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow::io {
namespace {

using std::string_view;

constexpr index_t largest_side = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t longest_head = std::size_t(1) << 26;
constexpr string_view banner_word = "matrixmarket";

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

constexpr string_view blanks = " \t\r\v\f", blanks_and_line_ends = " \t\r\v\f\n";

string_view behind(string_view blank, string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  return text;
}

/// What stands behind the percent signs of a banner: %%MatrixMarket, %MatrixMarket or %% MatrixMarket.
string_view behind_percents(string_view text) {
  text = behind(blanks_and_line_ends, text);
  if (text.starts_with("%%")) return behind(blanks, text.substr(2));
  return text.starts_with('%') ? text.substr(1) : string_view();
}

matrix_header parse_banner(string_view line, object wanted, bool& vector, const std::string& file, index_t number) {
  std::vector<std::string> words;
  for (const string_view w : words_of(behind_percents(line))) words.push_back(lower(w));
  vector = words.size() > 1 && words[1] == "vector";
  if (vector && words.size() == 4) words.push_back("general");
  if (words.size() != 5)
    refuse(file, number,
           fmt::format("the banner has {} words instead of five: %%MatrixMarket matrix coordinate real general",
                       words.size()));
  matrix_header head;
  if (vector && wanted == object::matrix)
    refuse(file, number, "the object is a 'vector', where a 'matrix' is wanted: it can be a right-hand side");
  if (vector && words[4] != "general")
    refuse(file, number, fmt::format("a vector is 'general', not {}", in_quotes(words[4])));
  if (!vector && words[1] != "matrix")
    refuse(file, number, fmt::format("the object {} is neither 'matrix' nor 'vector'", in_quotes(words[1])));
  if (words[2] == "coordinate" || words[2] == "coord") head.layout = matrix_header::layout::coordinate;
  else if (words[2] == "array") head.layout = matrix_header::layout::array;
  else refuse(file, number, fmt::format("the format {} is neither 'coordinate' nor 'array'", in_quotes(words[2])));
  if (words[3] == "real" || words[3] == "double") head.field = matrix_header::field::real;
  else if (words[3] == "integer" || words[3] == "unsigned-integer") head.field = matrix_header::field::integer;
  else if (words[3] == "pattern") head.field = matrix_header::field::pattern;
  else if (words[3] == "complex")
    refuse(file, number, vector ? "complex vectors are not supported yet" : "complex matrices are not supported yet");
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

/// "LENGTH" or "LENGTH ENTRIES".
void parse_vector_sizes(head_lines& out, string_view line, const std::string& file, index_t number) {
  const auto words = words_of(line);
  const bool dense = out.head.layout == matrix_header::layout::array;
  out.one_index = !dense;
  out.counted = dense || words.size() == 2;
  if (words.size() != 1 && (dense || words.size() != 2))
    refuse(file, number,
           fmt::format("the size line of a vector has {} words, not {}", words.size(),
                       dense ? "one: length" : "two: length entries"));
  out.head.shape = {parse_size(words[0], "elements", largest_side, file, number), 1};
  constexpr index_t most = std::numeric_limits<index_t>::max();
  out.head.stored = dense         ? out.head.shape.rows
                    : out.counted ? parse_size(words[1], "entries", most, file, number)
                                  : most;
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

string_view without_mark(string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

bool has_banner(string_view text) {
  text = behind_percents(without_mark(text.substr(0, 4096)));
  if (lower(text.substr(0, banner_word.size())) != banner_word) return false;
  text.remove_prefix(banner_word.size());
  return text.empty() || is_blank(text[0]) || text[0] == '\n';
}

bool has_late_banner(string_view text) {
  text = behind(blanks_and_line_ends, without_mark(text));
  while (text.starts_with('%')) {
    if (has_banner(text)) return true;
    text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
    text = behind(blanks_and_line_ends, text);
  }
  return false;
}

std::optional<head_lines> parse_head(string_view text, bool complete, const std::string& file, object wanted) {
  const string_view clean = without_mark(text).substr(0, longest_head);
  const bool whole = complete && text.size() <= longest_head;
  line_reader lines{clean, whole};
  head_lines out;
  bool vector = false;
  index_t returns = 0; // a line with a CR inside
  auto line = lines.next();
  while (line && behind(blanks, *line).empty()) line = lines.next();
  if (line) out.head = parse_banner(*line, wanted, vector, file, lines.number);
  while (line && (line = lines.next())) {
    const bool inner_return = has_inner_return(*line);
    if (inner_return && returns == 0) returns = lines.number;
    if (const string_view words = behind(blanks, *line); words.empty() || words[0] == '%') continue;
    if (inner_return) refuse(file, lines.number, about_inner_return);
    if (vector) parse_vector_sizes(out, *line, file, lines.number);
    else parse_sizes(out.head, *line, file, lines.number);
    out.length = lines.at + (text.size() - without_mark(text).size());
    out.lines = lines.number;
    return out;
  }
  if (!complete && text.size() < longest_head) return {};
  if (!whole) refuse(file, "no size line in the first 64 MiB");
  if (lines.number == 0) refuse(file, "the file is empty");
  if (returns > 0) refuse(file, returns, about_inner_return); // it has swallowed the size line
  refuse(file, lines.number, "the file ends before its size line");
}

std::string describe(const matrix_header& head) {
  static constexpr const char* layouts[] = {"coordinate", "array"};
  static constexpr const char* fields[] = {"real", "integer", "pattern"};
  static constexpr const char* symmetries[] = {"general", "symmetric", "skew-symmetric"};
  return fmt::format("{} {} {}", layouts[int(head.layout)], fields[int(head.field)], symmetries[int(head.symmetry)]);
}

void check_promise(const head_lines& lines, double text_bytes, const std::string& file) {
  if (!lines.counted) return;
  const matrix_header& head = lines.head;
  // The shortest line of an entry: one character a number, one blank or line end behind each.
  const int numbers = head.layout == matrix_header::layout::array
                          ? 1
                          : (lines.one_index ? 1 : 2) + (head.field != matrix_header::field::pattern);
  if (2.0 * numbers * static_cast<double>(head.stored) > text_bytes + 1)
    refuse(file, lines.lines,
           fmt::format("the size line promises {}, for which the rest of the file is too short",
                       counted(head.stored, "entry")));
  if (head.stored > 0 && (head.shape.rows == 0 || head.shape.cols == 0))
    refuse(file, lines.lines,
           fmt::format("a matrix of {} x {} cannot have {} entries", head.shape.rows, head.shape.cols, head.stored));
}

} // namespace furrow::io
