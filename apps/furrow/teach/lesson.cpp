// SPDX-License-Identifier: BSD-3-Clause
#include "lesson.hpp"

#include "core/check.hpp"

#include <sstream>
#include <utility>

namespace furrow::cli {
namespace {

constexpr lesson pages[] = {
#define FURROW_LESSON(name, text) {#name, text},
#include "lessons.inc"
#undef FURROW_LESSON
};

/// What lies between `begin` and `end`, from `from` on; up to the end of the text where `end` does not come.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const auto at = text.find(begin);
  require(at != text.npos, "a page of docs/kernels has lost its form");
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find(end));
}

/// Words between spaces; quotes keep spaces in.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
    } else if (c != ' ' || quoted) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

/// "[text](address)" is "text" to who reads it on a terminal.
std::string without_addresses(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t middle = text[at] == '[' ? text.find(']', at) : text.npos;
    if (middle == text.npos || text.substr(middle, 2) != "](") {
      result += text[at];
      continue;
    }
    result += text.substr(at + 1, middle - at - 1);
    at = text.find(')', middle);
    require(at != text.npos, "a page of docs/kernels has a link without an end");
  }
  return result;
}

} // namespace

std::string_view lesson::about() const { return between(page, ": ", "\n"); }

std::vector<std::string> lesson::idea() const {
  std::vector<std::string> paragraphs(1);
  std::istringstream lines{std::string(between(page, "\n\n", "\n## "))};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) paragraphs.emplace_back();
    else paragraphs.back() += (paragraphs.back().empty() ? "" : " ") + line;
  }
  if (paragraphs.back().empty()) paragraphs.pop_back();
  for (auto& paragraph : paragraphs) paragraph = without_addresses(paragraph);
  return paragraphs;
}

std::vector<std::vector<std::string>> lesson::commands() const {
  std::vector<std::vector<std::string>> all;
  constexpr std::string_view prompt = "$ furrow ";
  std::istringstream lines{std::string(between(page, "```console\n", "```"))};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prompt)) all.push_back(words_of(std::string_view(line).substr(prompt.size())));
  return all;
}

std::span<const lesson> lessons() { return pages; }

std::string wrapped(std::string_view text, int width) {
  std::string result;
  std::size_t column = 0;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const bool fits = column == 0 || column + 1 + word.size() <= static_cast<std::size_t>(width);
    if (column > 0) result += fits ? ' ' : '\n';
    column = column == 0 || !fits ? word.size() : column + 1 + word.size();
    result += word;
  }
  return result + "\n";
}

} // namespace furrow::cli
