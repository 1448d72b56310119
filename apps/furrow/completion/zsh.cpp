// SPDX-License-Identifier: BSD-3-Clause
#include "branch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace furrow::cli {
namespace {

/// `text` in single quotes.
std::string zsh_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// "'NAME:what it is'" for _describe.
std::string described(const std::string& name, const std::string& about) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return zsh_word(escaped + ":" + about);
}

std::string zsh_reply(const offers& o) {
  std::string text;
  std::vector<std::string> whole, open; // generators end with a colon, and are not complete then
  for (const auto& w : o.words) (w.ends_with(':') ? open : whole).push_back(w);
  if (!whole.empty()) text += fmt::format("compadd -- {}; ", fmt::join(whole, " "));
  if (!open.empty()) text += fmt::format("compadd -S '' -- {}; ", fmt::join(open, " "));
  if (o.files) text += "_files; ";
  return text.empty() ? ":" : text.substr(0, text.size() - 2);
}

std::string describe(const char* what, const std::vector<std::string>& lines, int indent) {
  return fmt::format("{0:{1}}offered=(\n{0:{1}}  {2}\n{0:{1}})\n{0:{1}}_describe {3} offered\n", "", indent,
                     fmt::join(lines, fmt::format("\n{:{}}", "", indent + 2)), what);
}

std::string options_of(const branch& b, int indent) {
  std::vector<std::string> lines;
  for (const auto& o : b.options)
    for (const auto& n : o.names) lines.push_back(described(n, o.about));
  return describe("option", lines, indent);
}

/// What completes word `depth` and those after it; words count from 1, "furrow" is the first.
std::string body_of(const branch& b, int depth) {
  const int indent = 2 * depth;
  if (!b.below.empty()) {
    std::vector<std::string> lines;
    std::string cases;
    for (const auto& inner : b.below) {
      lines.push_back(described(inner.name, inner.about));
      cases += fmt::format("{:{}}{})\n{}{:{}};;\n", "", indent, inner.name, body_of(inner, depth + 1), "", indent + 2);
    }
    return fmt::format("{0:{1}}if ((CURRENT == {2})); then\n"
                       "{0:{1}}  if [[ $word == -* ]]; then\n{3}{0:{1}}  else\n{4}{0:{1}}  fi\n"
                       "{0:{1}}  return\n"
                       "{0:{1}}fi\n"
                       "{0:{1}}case ${{words[{2}]}} in\n{5}{0:{1}}esac\n",
                       "", indent - 2, depth, options_of(b, indent + 2), describe("subcommand", lines, indent + 2),
                       cases);
  }
  std::string cases;
  for (const auto& o : b.options)
    if (o.takes_value)
      cases += fmt::format("{:{}}{}) {} ;;\n", "", indent, fmt::join(o.names, "|"), zsh_reply(o.values));
  return fmt::format("{0:{1}}case $previous in\n{2}"
                     "{0:{1}}  *)\n"
                     "{0:{1}}    if [[ $word == -* ]]; then\n{3}{0:{1}}    else\n{0:{1}}      {4}\n{0:{1}}    fi ;;\n"
                     "{0:{1}}esac\n",
                     "", indent - 2, cases, options_of(b, indent + 4), zsh_reply(b.positional));
}

} // namespace

std::string zsh_script(const branch& root) {
  return fmt::format("#compdef furrow\n"
                     "# zsh completion for furrow: furrow completion zsh > FOLDER/_furrow, with FOLDER in $fpath\n"
                     "_furrow() {{\n"
                     "  local word=${{words[CURRENT]}} previous=${{words[CURRENT-1]}}\n"
                     "  local -a offered\n"
                     "{}"
                     "}}\n"
                     "if [[ $funcstack[1] == _furrow ]]; then _furrow \"$@\"; else compdef _furrow furrow; fi\n",
                     body_of(root, 2));
}

} // namespace furrow::cli
