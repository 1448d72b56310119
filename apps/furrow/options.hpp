// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subcommand.hpp"

#include <furrow/device.hpp>
#include <furrow/formats.hpp>

namespace furrow::cli {

/// Options that several subcommands have, with the same words everywhere.
struct machine_options {
  std::string where = "auto", precision_name = "f64";
  int thread_count = 0;

  /// `both`: f64 and f32 one after the other is a choice too, and what is taken if nothing is said.
  void add(CLI::App& app, context& shared, bool both = false);
  /// Checks the words, sets the threads, selects the device.
  device apply() const;
  precision values() const { return precision_name == "f32" ? precision::f32 : precision::f64; }
  std::vector<precision> all_values() const;

private:
  std::vector<std::string> precisions() const;
  bool both_ = false;
};

/// How the matrix is stored and multiplied. `first`: words that are no entries ("auto"), for --format and --kernel.
struct choosing {
  std::string &format, &kernel;
  bool& tune;
  double& applies;
  void add(CLI::App& app, context& shared, const std::vector<std::string>& first) const;
  /// Throws `fault::usage` for a name that does not exist, with the nearest one.
  void check(const std::vector<std::string>& first) const;
};

/// The positional FILE: a path or a generator.
CLI::Option* add_matrix(CLI::App& app, context& shared, std::string& file);
/// --json
void add_json(CLI::App& app, bool& json);

/// Names from the tables, for completion and for checks; `first`: words that are no entries ("auto").
std::vector<std::string> format_names(std::vector<std::string> first);
std::vector<std::string> kernel_names(std::vector<std::string> first);
std::vector<std::string> solver_names();
std::vector<std::string> preconditioner_names();
std::vector<std::string> generator_names(); ///< "poisson1d:", ...

/// Throws `fault::usage` where `file` has the form of a generator that does not exist, with the nearest name.
void check_matrix(const std::string& file);

/// Throws `fault::usage` where a result for `--json` and one for `-o -` both want standard output.
void check_json_output(bool json, const std::string& file);

/// Throws `fault::input`, before any work, where `file` is meant to be written and its folder does not exist.
/// `fault::usage` where it is the same file as `input`.
void check_output(const std::string& file, const std::string& input = {});

} // namespace furrow::cli
