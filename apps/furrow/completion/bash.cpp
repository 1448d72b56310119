// SPDX-License-Identifier: BSD-3-Clause
#include "branch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace furrow::cli {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> names_of(const std::vector<branch>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& b : all) names.push_back(b.name);
  return names;
}

std::string bash_reply(const offers& o) {
  if (o.words.empty() && !o.files) return ":";
  return fmt::format("_furrow_words \"{}\"{}", joined(o.words), o.files ? "; _furrow_files" : "");
}

/// Values of options, then options, then positional words. One that has subcommands of its own, which are word `depth`
/// of the line, offers these and branches again.
std::string branch_of(const branch& b, int depth) {
  std::string cases;
  if (!b.below.empty()) {
    for (const auto& inner : b.below) cases += branch_of(inner, depth + 1);
    return fmt::format("    {})\n"
                       "      if ((COMP_CWORD == {})); then _furrow_words \"{}\"; return 0; fi\n"
                       "      case \"${{COMP_WORDS[{}]}}\" in\n"
                       "{}      esac ;;\n",
                       b.name, depth, joined(names_of(b.below)), depth, cases);
  }
  std::vector<std::string> options;
  for (const auto& o : b.options) {
    options.insert(options.end(), o.names.begin(), o.names.end());
    if (o.takes_value) cases += fmt::format("        {}) {} ;;\n", fmt::join(o.names, "|"), bash_reply(o.values));
  }
  return fmt::format("    {})\n"
                     "      case \"$previous\" in\n"
                     "{}"
                     "        *)\n"
                     "          if [[ $word == -* ]]; then _furrow_words \"{}\"; else {}; fi ;;\n"
                     "      esac ;;\n",
                     b.name, cases, joined(options), bash_reply(b.positional));
}

} // namespace

std::string bash_script(const branch& root) {
  auto first = names_of(root.below);
  for (const auto& o : root.options) first.insert(first.end(), o.names.begin(), o.names.end());
  std::string branches;
  for (const auto& b : root.below) branches += branch_of(b, 2);
  return fmt::format(R"(# bash completion for furrow: source <(furrow completion bash)
_furrow_words() {{
  local candidate
  while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -W "$1" -- "$word")
  [[ ${{COMPREPLY[0]}} != *: ]] || compopt -o nospace 2>/dev/null
}}
_furrow_files() {{
  local candidate
  compopt -o filenames 2>/dev/null
  while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$word")
}}
_furrow() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _furrow_words "{}"
    return 0
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  return 0
}}
complete -F _furrow furrow
)",
                     joined(first), branches);
}

} // namespace furrow::cli
