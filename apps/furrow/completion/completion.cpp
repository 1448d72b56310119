// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "nearest.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow::cli::completion_command {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// The words without "<file>", and whether it was there.
std::pair<std::string, bool> split(std::vector<std::string> words) {
  const auto files = std::erase(words, "<file>");
  return {joined(words), files > 0};
}

std::string reply(const std::vector<std::string>& words) {
  const auto [list, files] = split(words);
  return fmt::format("_furrow_words \"{}\"{}", list, files ? "; _furrow_files" : "");
}

/// What completes an option, its own words for its names.
std::string case_of(const CLI::Option& option, const context& shared) {
  std::vector<std::string> names;
  for (const auto& n : option.get_snames()) names.push_back("-" + n);
  for (const auto& n : option.get_lnames()) names.push_back("--" + n);
  if (names.empty() || option.get_type_size() == 0) return {};
  const auto found = shared.words.find(&option);
  return fmt::format("        {}) {} ;;\n", fmt::join(names, "|"),
                     found == shared.words.end() ? ":" : reply(found->second));
}

/// One branch for each subcommand: values of options, then options, then positional words. One that has subcommands
/// of its own, which are word `depth` of the line, offers these and branches again.
std::string branch_of(const CLI::App& app, const context& shared, int depth = 2) {
  std::string values;
  std::vector<std::string> options, words;
  for (const auto* inner : app.get_subcommands([](const CLI::App*) { return true; })) {
    words.push_back(inner->get_name());
    values += branch_of(*inner, shared, depth + 1);
  }
  if (!words.empty())
    return fmt::format("    {})\n"
                       "      if ((COMP_CWORD == {})); then _furrow_words \"{}\"; return 0; fi\n"
                       "      case \"${{COMP_WORDS[{}]}}\" in\n"
                       "{}      esac ;;\n",
                       app.get_name(), depth, joined(words), depth, values);
  for (const auto* option : app.get_options()) {
    values += case_of(*option, shared);
    for (const auto& n : option->get_snames()) options.push_back("-" + n);
    for (const auto& n : option->get_lnames()) options.push_back("--" + n);
    const auto found = shared.words.find(option);
    if (!option->get_positional() || found == shared.words.end()) continue;
    for (const auto& w : found->second)
      if (std::ranges::find(words, w) == words.end()) words.push_back(w);
  }
  return fmt::format("    {})\n"
                     "      case \"$previous\" in\n"
                     "{}"
                     "        *)\n"
                     "          if [[ $word == -* ]]; then _furrow_words \"{}\"; else {}; fi ;;\n"
                     "      esac ;;\n",
                     app.get_name(), values, joined(options), words.empty() ? ":" : reply(words));
}

std::string bash_script(const context& shared) {
  std::vector<std::string> names{"--help", "--version"};
  std::string branches;
  for (const auto* sub : shared.root->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
    branches += branch_of(*sub, shared);
  }
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
                     joined(names), branches);
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto shell = std::make_shared<std::string>();
  shared.words[app.add_option("SHELL", *shell, "bash")->required()->type_name("")] = {"bash"};
  app.footer("Examples:\n"
             "  source <(furrow completion bash)\n"
             "  furrow completion bash > ~/.local/share/bash-completion/completions/furrow");
  return [shell, &shared] {
    check_name("shell", *shell, {"bash"});
    print(bash_script(shared));
    return done;
  };
}

} // namespace

extern const subcommand entry{"completion", "Print a script that completes subcommands, options, names and files.",
                              setup};

} // namespace furrow::cli::completion_command
