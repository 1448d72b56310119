// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "nearest.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include "core/environment.hpp"

#include <fmt/format.h>

namespace furrow::cli::help_command {
namespace {

std::string environment_text() {
  std::string text = "Variables of the environment:\n";
  for (const auto& v : environment_variables()) text += fmt::format("  {:<26} {:<26} {}\n", v.name, v.values, v.about);
  return text;
}

std::string help_on(const CLI::App& root, const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "environment") return environment_text();
  const CLI::App* at = &root;
  std::string before;
  for (const auto& word : words) {
    auto names = names_below(*at);
    if (at == &root) names.emplace_back("environment");
    if (names.empty()) throw error(fault::usage, fmt::format("'{}' has no subcommand '{}'", at->get_name(), word));
    check_name(at == &root ? "subcommand" : fmt::format("'{}' subcommand", at->get_name()), word, names);
    if (word == "environment") throw error(fault::usage, "'environment' has no subcommands");
    before += (before.empty() ? "" : " ") + at->get_name();
    for (const auto* below : apps_below(*at))
      if (below->get_name() == word) {
        at = below;
        break;
      }
  }
  return at->get_formatter()->make_help(at, (before.empty() ? "" : before + " ") + at->get_name(),
                                        CLI::AppFormatMode::Normal);
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto& topics = shared.words[app.add_option("SUBCOMMAND", *words, "what to explain")->type_name("")];
  for (const auto* s : subcommands()) topics.emplace_back(s->name);
  topics.emplace_back("environment");
  app.footer("Examples:\n"
             "  furrow help solve\n"
             "  furrow help bench spmv\n"
             "  furrow help environment               the variables that Furrow listens to");
  return [words, &shared] {
    print(help_on(*shared.root, *words));
    return done;
  };
}

} // namespace

extern const subcommand entry{"help", "Explain a subcommand, or the environment.", setup};

} // namespace furrow::cli::help_command
