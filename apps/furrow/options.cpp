// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "interrupt.hpp"
#include "nearest.hpp"

#include "core/check.hpp"

#include <furrow/generate.hpp>
#include <furrow/solve.hpp>

#include <algorithm>
#include <filesystem>

namespace furrow::cli {
namespace {

void append_once(std::vector<std::string>& words, std::string_view word) {
  if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
}

} // namespace

void machine_options::add(CLI::App& app, context& shared, bool both) {
  const auto* group = "Machine";
  both_ = both;
  if (both) precision_name = "both";
  shared.words[app.add_option("--device", where, "auto, cpu, gpu or gpu:N (default auto: a GPU where there is one)")
                   ->type_name("WHERE")
                   ->group(group)] = {"auto", "cpu", "gpu"};
  const auto* about = both ? "f64, f32 or both (default both)" : "f64 or f32 (default f64)";
  shared.words[app.add_option("--precision", precision_name, about)->type_name("NAME")->group(group)] = precisions();
  app.add_option("--threads", thread_count, "CPU threads (default: all)")
      ->type_name("N")
      ->check(CLI::Range(1, 65536))
      ->group(group);
}

std::vector<std::string> machine_options::precisions() const {
  return both_ ? std::vector<std::string>{"both", "f64", "f32"} : std::vector<std::string>{"f64", "f32"};
}

std::vector<precision> machine_options::all_values() const {
  if (precision_name == "both") return {precision::f64, precision::f32};
  return {values()};
}

device machine_options::apply() const {
  check_name("precision", precision_name, precisions());
  set_threads(thread_count);
  const device d = parse_device(where);
  select_device(d);
  return d;
}

void choosing::add(CLI::App& app, context& shared, const std::vector<std::string>& first) const {
  const auto* group = "Format";
  const std::string others = first.size() > 1 ? "auto, all" : "auto";
  shared.words[app.add_option("--format", format,
                              others + " or a format, with its parameters after colons (default auto)")
                   ->type_name("NAME")
                   ->group(group)] = format_names(first);
  shared.words[app.add_option("--kernel", kernel, others + " or a kernel of the format (default auto)")
                   ->type_name("NAME")
                   ->group(group)] = kernel_names(first);
  app.add_flag("--tune", tune, "choose by measuring, and remember the winner for this matrix")->group(group);
  app.add_option("--applies", applies, "products to come: few are not worth a conversion (default: many)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

void choosing::check(const std::vector<std::string>& first) const {
  check_name("format", format.substr(0, format.find(':')), format_names(first));
  check_name("kernel", kernel, kernel_names(first));
}

CLI::Option* add_matrix(CLI::App& app, context& shared, std::string& file) {
  auto* option =
      app.add_option("FILE", file,
                     "a matrix (.mtx, .mtx.gz, .tar.gz, .furrow; - for stdin) or a generator (poisson3d:100)")
          ->required()
          ->type_name("");
  auto& words = shared.words[option] = generator_names();
  words.emplace_back("<file>");
  return option;
}

void add_json(CLI::App& app, bool& json) { app.add_flag("--json", json, "one JSON object instead of text"); }

std::vector<std::string> format_names(std::vector<std::string> first) {
  for (const auto* f : formats()) append_once(first, f->name);
  return first;
}

std::vector<std::string> kernel_names(std::vector<std::string> first) {
  for (const auto* f : formats()) {
    for (const auto& k : f->cpu.kernels) append_once(first, k.name);
    for (const auto& k : f->gpu.kernels) append_once(first, k.name);
  }
  return first;
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const auto& s : solvers()) names.emplace_back(s.name);
  return names;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names;
  for (const auto& p : preconditioners()) names.emplace_back(p.name);
  return names;
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const auto& g : generators()) names.push_back(g.usage.substr(0, g.usage.find(':') + 1));
  return names;
}

void check_matrix(const std::string& file) {
  std::error_code ignored;
  if (!is_generator(file) || std::filesystem::exists(file, ignored)) return;
  auto names = generator_names();
  for (auto& n : names) n.pop_back();
  check_name("generator", file.substr(0, file.find(':')), names);
}

void check_json_output(bool json, const std::string& file) {
  furrow::check(!json || file != "-", fault::usage,
                "--json and '-' for the output both want standard output: name a file for the output");
}

void check_output(const std::string& file, const std::string& input) {
  if (file.empty() || file == "-") return;
  const auto folder = std::filesystem::absolute(file).parent_path();
  std::error_code ignored;
  check(std::filesystem::is_directory(folder, ignored), fault::input,
        "{}: cannot be written: its folder does not exist", file);
  check(!std::filesystem::is_directory(file, ignored), fault::input, "{}: is a folder, not a file", file);
  check(input.empty() || !std::filesystem::equivalent(input, file, ignored), fault::usage,
        "{} and {} are the same file: choose another name for the output", input, file);
  clean_up_beside(file);
}

} // namespace furrow::cli
