// SPDX-License-Identifier: BSD-3-Clause
#include "help.hpp"

namespace furrow::cli {

std::string help_text::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string help_text::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_name(); // "NAME:CHECK"
  return type.empty() || option->get_type_size() == 0 ? "" : " " + type.substr(0, type.find(':'));
}

/// "--no-picture", not "--no-picture{false}".
std::string help_text::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string name = CLI::Formatter::make_option_name(option, is_positional);
  return name.substr(0, name.find('{'));
}

std::string help_text::make_usage(const CLI::App* app, std::string name) const {
  return "\n" + CLI::Formatter::make_usage(app, std::move(name));
}

} // namespace furrow::cli
