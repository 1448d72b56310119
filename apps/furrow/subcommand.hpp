// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow::cli {

/// What the subcommands share while the command line is set up.
struct context {
  const CLI::App* root = nullptr;
  std::map<const CLI::Option*, std::vector<std::string>> words; ///< what the completion offers; "<file>": files too
  std::vector<std::string> arguments{};                         ///< of the program
};

/// A subcommand: a folder below apps/furrow with a `const subcommand entry` in namespace furrow::cli::NAME_command.
/// The table is generated. `setup` declares the options and returns what runs after parsing; it gives the exit code.
struct subcommand {
  std::string_view name, about;
  std::function<int()> (*setup)(CLI::App& app, context& shared) = nullptr;
};

/// All subcommands, sorted by name.
std::span<const subcommand* const> subcommands();

/// Adds a subcommand to `parent`, with -h and without the examples of its parent.
CLI::App* declare(CLI::App& parent, std::string_view name, std::string_view about);

/// The subcommands of `app`, and their names.
std::vector<const CLI::App*> apps_below(const CLI::App& app);
std::vector<std::string> names_below(const CLI::App& app);

} // namespace furrow::cli
