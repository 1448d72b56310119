// SPDX-License-Identifier: BSD-3-Clause
#include "branch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace furrow::cli {
namespace {

/// `text` in single quotes.
std::string fish_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

/// -F and -a for what is offered; -f where there are no files.
std::string given(const offers& o) {
  return fmt::format("{}{}", o.files ? " -F" : " -f",
                     o.words.empty() ? ""
                                     : fmt::format(" -a {}", fish_word(fmt::format("{}", fmt::join(o.words, " ")))));
}

std::string option_line(const std::string& where, const completed_option& o) {
  std::string names;
  for (const auto& n : o.names) names += n.starts_with("--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
  return fmt::format("complete -c furrow -n {}{}{} -d {}\n", where, names,
                     o.takes_value ? " -r" + given(o.values) : " -f", fish_word(o.about));
}

/// `path`: the words that lead here.
std::string lines_of(const branch& b, const std::string& path) {
  std::string text;
  const std::string below = fish_word("__furrow_below" + path);
  for (const auto& o : b.options) text += option_line(b.below.empty() ? below : fish_word("__furrow_at" + path), o);
  for (const auto& inner : b.below) {
    text += fmt::format("complete -c furrow -n {} -f -a {} -d {}\n", fish_word("__furrow_at" + path), inner.name,
                        fish_word(inner.about));
    text += lines_of(inner, path + " " + inner.name);
  }
  if (b.below.empty()) text += fmt::format("complete -c furrow -n {}{}\n", below, given(b.positional));
  return text;
}

} // namespace

std::string fish_script(const branch& root) {
  return R"(# fish completion for furrow: furrow completion fish > ~/.config/fish/completions/furrow.fish
function __furrow_below # whether the words behind furrow begin with these
    set -l words (commandline -opc)
    set -e words[1]
    for want in $argv
        test (count $words) -gt 0; and test "$words[1]" = $want; or return 1
        set -e words[1]
    end
end
function __furrow_at # whether they are these
    __furrow_below $argv; and test (count (commandline -opc)) -eq (math 1 + (count $argv))
end
complete -c furrow -f
)" + lines_of(root, "");
}

} // namespace furrow::cli
