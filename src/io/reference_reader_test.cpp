// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace furrow::io_test {
namespace {

const std::string blanks = " \t\r\v\f";
constexpr std::int64_t longest_vector = 1000000; // of the tests

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : line + " ") {
    if (blanks.find(c) == std::string::npos) word += c;
    else if (!word.empty()) out.push_back(word), word.clear();
  }
  return out;
}

bool is_whole(const std::string& w) {
  const std::size_t from = !w.empty() && (w[0] == '+' || w[0] == '-');
  return w.size() > from && w.find_first_not_of("0123456789", from) == std::string::npos;
}

std::optional<std::int64_t> whole(const std::string& w, std::int64_t least, std::int64_t most) {
  if (!is_whole(w)) return {};
  errno = 0;
  const long long v = std::strtoll(w.c_str(), nullptr, 10);
  if (errno || v < least || v > most) return {};
  return v;
}

std::optional<double> real(std::string w) {
  std::string bare = w.substr(!w.empty() && (w[0] == '+' || w[0] == '-'));
  for (char& c : bare) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (bare == "nan" || bare == "inf" || bare == "infinity") return std::strtod(w.c_str(), nullptr);
  std::size_t at = !w.empty() && (w[0] == '+' || w[0] == '-'), digits = 0;
  for (; at < w.size() && std::isdigit(static_cast<unsigned char>(w[at])); ++at) ++digits;
  if (at < w.size() && w[at] == '.')
    for (++at; at < w.size() && std::isdigit(static_cast<unsigned char>(w[at])); ++at) ++digits;
  if (digits == 0) return {};
  if (at < w.size()) {
    if (std::string("eEdD").find(w[at]) == std::string::npos) return {};
    w[at++] = 'e';
    if (at < w.size() && (w[at] == '+' || w[at] == '-')) ++at;
    if (at == w.size() || w.find_first_not_of("0123456789", at) != std::string::npos) return {};
  }
  const double v = std::strtod(w.c_str(), nullptr);
  if (!std::isfinite(v)) return {};
  return v;
}

/// The lines of a text; a CR ends one where it ends the first one.
std::vector<std::string> lines_of(const std::string& text) {
  const std::size_t end = std::min(text.find('\r'), text.size());
  std::size_t behind = end;
  while (behind < text.size() && text[behind] == '\r') ++behind;
  const bool returns =
      end < 4096 && text.find('\n') > end && behind < std::min<std::size_t>(text.size(), 4096) && text[behind] != '\n';
  std::vector<std::string> out;
  std::string line;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool ends = text[k] == '\n' || (returns && text[k] == '\r');
    if (!ends) line += text[k];
    if (ends || k + 1 == text.size()) out.push_back(line), line.clear();
    if (returns && text[k] == '\r' && k + 1 < text.size() && text[k + 1] == '\n') ++k;
  }
  if (!out.empty() && out[0].starts_with("\xEF\xBB\xBF")) out[0].erase(0, 3);
  while (!out.empty() && words_of(out[0]).empty()) out.erase(out.begin());
  return out;
}

/// The words of the banner in small letters, the first one without percent signs; empty where it is none.
std::vector<std::string> banner_of(std::string line) {
  for (char& c : line) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  auto words = words_of(line);
  if (words.size() > 1 && words[0] == "%%") words.erase(words.begin()), words[0] = "%%" + words[0];
  const bool good = !words.empty() && (words[0] == "%%matrixmarket" || words[0] == "%matrixmarket");
  return good ? words : std::vector<std::string>();
}

bool return_inside(const std::string& line) {
  const std::size_t first = line.find_first_not_of(blanks), last = line.find_last_not_of(blanks);
  return first < last && line.substr(first, last - first).find('\r') != std::string::npos;
}

/// The words of the next line that is neither blank nor, where such may be, a comment; empty at the end.
std::vector<std::string> next_words(const std::vector<std::string>& lines, std::size_t& at, bool comments) {
  while (at < lines.size()) {
    const std::string& line = lines[at++];
    auto words = words_of(line);
    if (words.empty() || (comments && words[0][0] == '%')) continue;
    if (return_inside(line)) words.assign(9, "?");
    return words;
  }
  return {};
}

} // namespace

std::optional<plain_matrix> read_plainly(const std::string& text) {
  const auto lines = lines_of(text);
  if (lines.empty()) return {};
  const auto banner = banner_of(lines[0]);
  if (banner.size() != 5 || banner[1] != "matrix") return {};
  const bool dense = banner[2] == "array", integer = banner[3] == "integer" || banner[3] == "unsigned-integer",
             pattern = banner[3] == "pattern", general = banner[4] == "general", skew = banner[4] == "skew-symmetric";
  if (!dense && banner[2] != "coordinate" && banner[2] != "coord") return {};
  if (!integer && !pattern && banner[3] != "real" && banner[3] != "double") return {};
  if (!general && !skew && banner[4] != "symmetric") return {};
  if (pattern && (dense || skew)) return {};
  std::size_t at = 1;
  const auto sizes = next_words(lines, at, true);
  if (sizes.size() != (dense ? 2u : 3u)) return {};
  plain_matrix out;
  const auto rows = whole(sizes[0], 0, 2147483647), cols = whole(sizes[1], 0, 2147483647);
  if (!rows || !cols || (!general && *rows != *cols)) return {};
  out.rows = *rows, out.cols = *cols;
  std::int64_t stored = 0;
  if (dense) {
    stored = general ? *rows * *cols : skew ? *rows * (*rows - 1) / 2 : *rows * (*rows + 1) / 2;
  } else {
    const auto said = whole(sizes[2], 0, INT64_MAX);
    if (!said) return {};
    stored = *said;
  }
  std::map<std::pair<std::int64_t, std::int64_t>, double> sums;
  bool lower = false, upper = false;
  const auto add = [&](std::int64_t i, std::int64_t j, double v) {
    const auto [place, fresh] = sums.try_emplace({i, j}, v);
    if (!fresh) place->second += v;
  };
  std::int64_t count = 0, i = dense && skew ? 1 : 0, j = 0;
  for (;;) {
    const auto words = next_words(lines, at, dense);
    if (words.empty()) break;
    if (++count > stored || words.size() != (dense ? 1u : pattern ? 2u : 3u)) return {};
    const auto v = pattern ? std::optional(1.0) : real(words.back());
    if (!v) return {};
    if (!dense) {
      const auto r = whole(words[0], 1, *rows), c = whole(words[1], 1, *cols);
      if (!r || !c) return {};
      i = *r - 1, j = *c - 1;
      lower |= i > j, upper |= i < j;
    }
    add(i, j, *v);
    if (!general && i != j) add(j, i, skew ? -*v : *v);
    if (dense && ++i == *rows) ++j, i = general ? 0 : j + skew;
  }
  if (count != stored || (!general && lower && upper)) return {};
  if (dense && skew)
    for (std::int64_t k = 0; k < *rows; ++k) add(k, k, 0);
  for (const auto& [where, v] : sums) out.entries.push_back({where.first, where.second, v});
  return out;
}

std::optional<std::vector<double>> read_vector_plainly(const std::string& text) {
  const auto lines = lines_of(text);
  std::vector<double> out;
  if (lines.empty()) return text.empty() ? std::nullopt : std::optional(out);
  auto banner = banner_of(lines[0]);
  std::size_t at = banner.empty() ? 0 : 1;
  std::vector<std::string> pieces; // a line, and what of it stands behind each of its carriage returns
  for (std::string line : lines) {
    std::vector<std::size_t> starts{0};
    for (std::size_t k = 0; k < line.size(); ++k)
      if (line[k] == '\r') line[k] = ' ', starts.push_back(k + 1);
    for (const std::size_t start : starts) pieces.push_back(line.substr(start));
  }
  for (std::size_t k = 1; banner.empty() && k < pieces.size(); ++k) { // comments, and then a banner
    const auto words = words_of(pieces[k - 1]);
    if (!words.empty() && words[0][0] != '%') break;
    if (!banner_of(pieces[k]).empty()) return {};
  }
  if (banner.empty()) { // numbers, one a line
    for (auto words = next_words(lines, at, true); !words.empty(); words = next_words(lines, at, true)) {
      const auto v = words.size() == 1 ? real(words[0]) : std::nullopt;
      if (!v) return {};
      out.push_back(*v);
    }
    return out;
  }
  if (banner.size() < 2 || banner[1] != "vector") {
    const auto matrix = read_plainly(text);
    if (!matrix || matrix->cols != 1 || matrix->rows > longest_vector) return {};
    out.resize(static_cast<std::size_t>(matrix->rows));
    for (const entry& e : matrix->entries) out[static_cast<std::size_t>(e.row)] = e.val;
    return out;
  }
  if (banner.size() == 4) banner.push_back("general");
  if (banner.size() != 5 || banner[4] != "general") return {};
  const bool dense = banner[2] == "array", pattern = banner[3] == "pattern";
  if (!dense && banner[2] != "coordinate" && banner[2] != "coord") return {};
  const auto& f = banner[3];
  if ((pattern && dense) || (!pattern && f != "real" && f != "double" && f != "integer" && f != "unsigned-integer"))
    return {};
  const auto sizes = next_words(lines, at, true);
  if (sizes.size() != 1 && (dense || sizes.size() != 2)) return {};
  const auto length = whole(sizes[0], 0, 2147483647), stored = whole(sizes.back(), 0, INT64_MAX);
  if (!length || !stored || *length > longest_vector) return {};
  std::map<std::int64_t, double> sums;
  std::int64_t count = 0;
  for (auto words = next_words(lines, at, dense); !words.empty(); words = next_words(lines, at, dense), ++count) {
    if (words.size() != (dense || pattern ? 1u : 2u)) return {};
    const auto i = dense ? std::optional(count + 1) : whole(words[0], 1, *length);
    const auto v = pattern ? std::optional(1.0) : real(words.back());
    if (!i || *i > *length || !v) return {};
    const auto [place, fresh] = sums.try_emplace(*i - 1, *v);
    if (!fresh) place->second += *v;
  }
  if ((dense || sizes.size() == 2) && count != *stored) return {};
  out.resize(static_cast<std::size_t>(*length));
  for (const auto& [i, v] : sums) out[static_cast<std::size_t>(i)] = v;
  return out;
}

} // namespace furrow::io_test
