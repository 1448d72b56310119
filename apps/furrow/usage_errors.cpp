// SPDX-License-Identifier: BSD-3-Clause
#include "usage_errors.hpp"
#include "nearest.hpp"
#include "subcommand.hpp"

#include "core/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow::cli {
namespace {

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The subcommand that was being parsed, below it the subcommand of that one, and so on.
std::vector<const CLI::App*> parsed_path(const CLI::App& root) {
  std::vector<const CLI::App*> path;
  for (auto inner = root.get_subcommands(); !inner.empty(); inner = path.back()->get_subcommands())
    path.push_back(inner.front());
  return path;
}

const CLI::App& parsed_app(const CLI::App& root) {
  const auto path = parsed_path(root);
  return path.empty() ? root : *path.back();
}

/// "see 'furrow solve -h'" for the subcommand that was being parsed.
std::string where_help_is(const CLI::App& root) {
  std::string command = "furrow";
  for (const auto* app : parsed_path(root)) command += " " + app->get_name();
  return fmt::format("see '{} -h'", command);
}

/// The first word that nobody knows, in one sentence; empty where there is none.
std::string about_extras(const CLI::App& root) {
  bool options_ended = false;
  for (const std::string& word : root.remaining(true)) {
    if (!options_ended && word == "--") {
      options_ended = true;
      continue;
    }
    if (options_ended || !word.starts_with("-"))
      return fmt::format("'{}' is one argument too many; {}", word, where_help_is(root));
    const std::string name = word.substr(0, word.find('='));
    const std::string guess = nearest(name, names_of_options(parsed_app(root)));
    if (parsed_app(root).get_option_no_throw(name))
      return fmt::format("{} stands before the subcommand: options come behind it; {}", word, where_help_is(root));
    return fmt::format("there is no option '{}': {}{}", word,
                       guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess), where_help_is(root));
  }
  return {};
}

/// CLI11's sentence, or a clearer one.
std::string clearer(const CLI::App& root, const CLI::ParseError& e) {
  std::string text = e.what();
  const std::string name = text.substr(0, text.find(':'));
  const std::string conversion = "Could not convert: ";
  if (text.starts_with(conversion)) { // "Could not convert: --json = 5"
    const std::size_t equals = text.find(" = ");
    return fmt::format("{}: '{}' does not fit here", text.substr(conversion.size(), equals - conversion.size()),
                       text.substr(equals + 3));
  }
  if (const auto at = text.find(" excludes "); dynamic_cast<const CLI::ExcludesError*>(&e) && at != text.npos)
    return fmt::format("{} and {} exclude each other: leave one of the two out", text.substr(0, at),
                       text.substr(at + 10));
  if (text == "A subcommand is required")
    return fmt::format("a subcommand is missing: one of {}", fmt::join(names_below(parsed_app(root)), ", "));
  if (text.ends_with(" missing")) return name + " needs a value"; // "--rtol: 1 required R ..."
  if (text.find(": At Most 1 required") != text.npos) return name + " is given twice: give it once";
  if (text.ends_with(" is required")) return text.substr(0, text.size() - 12) + " is missing"; // "FILE is required"
  return text;
}

} // namespace

void check_subcommands(CLI::App& root, std::vector<std::string>& words) {
  CLI::App* at = &root;
  auto word = words.begin();
  for (auto names = names_below(root); word != words.end() && !names.empty(); names = names_below(*at)) {
    if (*word == "--") {
      word = words.erase(word);
      continue;
    }
    if (word->starts_with('-')) return;
    check_name(at == &root ? "subcommand" : fmt::format("'{}' subcommand", at->get_name()), *word, names);
    at = at->get_subcommand(*word++);
  }
  const auto mark = std::find(word, words.end(), "--");
  if (mark != words.end() && std::none_of(mark + 1, words.end(), [](const auto& w) { return w.starts_with('-'); }))
    words.erase(mark);
}

void check_equals(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* at = &root;
  auto word = words.begin();
  for (; word != words.end() && std::ranges::count(names_below(*at), *word); ++word) at = at->get_subcommand(*word);
  for (; word != words.end() && *word != "--"; ++word) {
    const std::size_t equals = word->find('=');
    if (!word->starts_with("--") || equals == word->npos) continue;
    check(equals != word->size() - 1, fault::usage,
          "{}: nothing stands behind the '=': write the value there, or leave the '=' out", *word);
    const std::string name = word->substr(0, equals);
    const CLI::Option* const option = at->get_option_no_throw(name);
    check(!option || option->get_items_expected_max() > 0, fault::usage,
          "{} takes no value: give it alone, or leave it out", name);
  }
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options({})) {
    if (option->get_type_size() > 0)
      option->check(
          [](const std::string& value) { return std::string(value.empty() ? "is empty: give a value" : ""); });
  }
  for (CLI::App* inner : app.get_subcommands({})) refuse_empty_values(*inner);
}

std::string about_parse_error(const CLI::App& root, const CLI::ParseError& e) {
  const std::string extras = about_extras(root);
  return extras.empty() ? fmt::format("{}; {}", clearer(root, e), where_help_is(root)) : extras;
}

} // namespace furrow::cli
