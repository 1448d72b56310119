// SPDX-License-Identifier: BSD-3-Clause
#include "shell_command.hpp"

#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace furrow::cli {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./:=,+@%").find(c) != std::string::npos;
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text;
  if (printable(word) == word) {
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return fmt::format("'{}'", text);
  }
  for (const char c : word) {
    if (c == '\'' || c == '\\') text += '\\', text += c;
    else if (c >= ' ' && c <= '~') text += c;
    else text += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return fmt::format("$'{}'", text);
}

} // namespace

std::string shell_command(const std::vector<std::string>& words) {
  std::string command = "furrow";
  for (const auto& word : words) command += " " + shell_word(word);
  return command;
}

} // namespace furrow::cli
