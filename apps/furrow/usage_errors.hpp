// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace furrow::cli {

/// Throws `fault::usage`, with the nearest name, where a word stands for a subcommand that does not exist. Drops a "--"
/// that changes nothing: before a subcommand, or before words none of which looks like an option.
void check_subcommands(CLI::App& root, std::vector<std::string>& words);

/// Throws `fault::usage` for an option with nothing behind its '=': the parser would take the next word for its value,
/// and a flag for one that is given alone. And for a flag with a value, which would switch it off or on.
void check_equals(const CLI::App& root, const std::vector<std::string>& words);

/// Refuses empty words where options of `app` and of those below it take a value.
void refuse_empty_values(CLI::App& app);

/// What the parser says, in the manner of this program.
std::string about_parse_error(const CLI::App& root, const CLI::ParseError& e);

} // namespace furrow::cli
