// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subcommand.hpp"

#include <string>
#include <vector>

namespace furrow::cli {

/// What may stand at a place of the command line.
struct offers {
  std::vector<std::string> words;
  bool files = false;
};

struct completed_option {
  std::vector<std::string> names; ///< "-o", "--output"
  std::string about;
  bool takes_value = false;
  offers values;
};

/// A subcommand as a script for a shell sees it.
struct branch {
  std::string name, about;
  std::vector<branch> below; ///< its own subcommands; it then has nothing else
  std::vector<completed_option> options;
  offers positional;
};

/// The tree below the root, from the declarations that the parser uses.
branch tree_of(const CLI::App& app, const context& shared);

/// Scripts that complete subcommands, options, names and files.
std::string bash_script(const branch& root);
std::string zsh_script(const branch& root);
std::string fish_script(const branch& root);

} // namespace furrow::cli
