// SPDX-License-Identifier: BSD-3-Clause
#include "subcommand.hpp"

namespace furrow::cli {

CLI::App* declare(CLI::App& parent, std::string_view name, std::string_view about) {
  CLI::App* const sub = parent.add_subcommand(std::string(name), std::string(about));
  sub->set_help_flag("-h,--help", "this text");
  sub->footer("");
  return sub;
}

std::vector<const CLI::App*> apps_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* sub : apps_below(app)) names.push_back(sub->get_name());
  return names;
}

} // namespace furrow::cli
