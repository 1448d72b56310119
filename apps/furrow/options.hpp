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
  std::vector<std::string> more_places{}; ///< that --device takes of this command, beside those of all

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

/// Sets the threads, selects the device. Throws `fault::usage`, with the nearest name, for a word that is none.
device use_device(const std::string& where, int thread_count, const std::vector<std::string>& more_places = {});

/// How the matrix is stored and multiplied. `first`: words that are no entries ("auto"), for --format and --kernel.
struct choosing {
  std::string &format, &kernel;
  bool& tune;
  double& expected_products;
  void add(CLI::App& app, context& shared, const std::vector<std::string>& first) const;
  /// Throws `fault::usage` for a name that does not exist, with the nearest one.
  void check(const std::vector<std::string>& first) const;
  /// Throws `fault::usage` for a kernel that GPUs alone have where none computes. `plays`: with --device play.
  void check_runs(device where, bool plays) const;
};

/// "--device gpu", or that and how a classic kernel is played without one.
std::string where_kernels_of_gpus_run(bool plays);

void add_device(CLI::App& app, context& shared, std::string& where, const std::string& group = "Options");
void add_threads(CLI::App& app, int& count, const std::string& group = "Options");
/// --repeat
void add_repeat(CLI::App& app, int& repeat, const char* about);
/// A name that the completion takes for that of a file.
CLI::Option* add_file(CLI::App& app, context& shared, const char* names, std::string& file, const std::string& about,
                      const std::string& group = "Options");
/// The positional FILE: a path or a generator.
CLI::Option* add_matrix(CLI::App& app, context& shared, std::string& file);
/// --json
void add_json(CLI::App& app, bool& json);

/// Names from the tables, for completion and for checks; `first`: words that are no entries ("auto"). Kernels: of one
/// format, or where there is none of that name of all.
std::vector<std::string> format_names(std::vector<std::string> first);
std::vector<std::string> kernel_names(std::vector<std::string> first, std::string_view format = {});
std::string name_before_colon(const std::string& word); ///< "sell" of "sell:8:256"
std::vector<std::string> solver_names();
std::vector<std::string> preconditioner_names();
std::vector<std::string> generator_names(); ///< "poisson1d:", ...

/// Names of generators, without what follows.
std::vector<std::string> bare_generators();
/// Throws `fault::usage`, with the nearest name, where `file` has the form of a generator that does not exist.
void check_generator(const std::string& file);
/// And `fault::input`, with the nearest name, where it is neither a generator nor a file that is there.
void check_matrix(const std::string& file);
/// The same of a file that must be there, as what `option` names.
void check_input(const std::string& file, std::string_view option);

/// The items of a list between commas. Throws `fault::usage` for an empty one.
std::vector<std::string> items_of(const std::string& list, std::string_view option);

/// Throws `fault::usage` where more than one of the JSON and these outputs wants standard output, as '-' does.
void check_one_standard_output(bool json, std::initializer_list<std::string_view> outputs);

/// Throws `fault::input`, before any work, where `file`, which `option` names, is meant to be written and cannot be;
/// `fault::usage` where it is the same file as one of `others`: inputs, and outputs that are checked after it. Empty
/// names are none.
void check_output(const std::string& file, std::string_view option, const std::vector<std::string_view>& others = {});
/// Throws `fault::usage` where the name promises a format that `what` is not written in: "x is written as .mtx, ...".
/// A name without a known ending promises nothing.
void check_ending(const std::string& file, std::string_view option, std::string_view what,
                  const std::vector<std::string>& written);

/// Sets the number of threads, 0 for all, and says where the system starts fewer.
void use_threads(int count);

} // namespace furrow::cli
