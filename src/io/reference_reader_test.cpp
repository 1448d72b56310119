// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace furrow::io_test {
namespace {

const std::string blanks = " \t\r\v\f";

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

} // namespace

std::optional<plain_matrix> read_plainly(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.empty()) return {};
  if (lines[0].starts_with("\xEF\xBB\xBF")) lines[0].erase(0, 3);
  auto banner = words_of(lines[0]);
  for (auto& w : banner)
    std::transform(w.begin(), w.end(), w.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  if (banner.size() != 5 || banner[0] != "%%matrixmarket" || banner[1] != "matrix") return {};
  const bool dense = banner[2] == "array", integer = banner[3] == "integer" || banner[3] == "unsigned-integer",
             pattern = banner[3] == "pattern", general = banner[4] == "general", skew = banner[4] == "skew-symmetric";
  if (!dense && banner[2] != "coordinate") return {};
  if (!integer && !pattern && banner[3] != "real" && banner[3] != "double") return {};
  if (!general && !skew && banner[4] != "symmetric") return {};
  if (pattern && (dense || skew)) return {};
  std::size_t at = 1;
  std::vector<std::string> sizes;
  for (; at < lines.size() && sizes.empty(); ++at) {
    sizes = words_of(lines[at]);
    if (!sizes.empty() && sizes[0][0] == '%') sizes.clear();
  }
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
  for (; at < lines.size(); ++at) {
    const auto words = words_of(lines[at]);
    if (words.empty() || (dense && words[0][0] == '%')) continue;
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

} // namespace furrow::io_test
