// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "text.hpp"

#include "backends/cpu/workers.hpp"
#include "core/check.hpp"
#include "core/kernel_numbers.hpp"
#include "formats/played.hpp"
#include "io/atomic_file.hpp"
#include "io/ending.hpp"

#include <furrow/generate.hpp>
#include <furrow/solve.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
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
  add_device(app, shared, where, group);
  const auto* about = both ? "f64, f32 or both (default both)" : "f64 or f32 (default f64)";
  shared.words[app.add_option("--precision", precision_name, about)->type_name("NAME")->group(group)] = precisions();
  add_threads(app, thread_count, group);
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
  return use_device(where, thread_count, more_places);
}

device use_device(const std::string& where, int thread_count, const std::vector<std::string>& more_places) {
  std::vector<std::string> places{"auto", "cpu", "gpu", "gpu:N"};
  places.insert(places.end(), more_places.begin(), more_places.end());
  if (!where.starts_with("gpu:")) check_name("device", where, places);
  use_threads(thread_count);
  const device d = parse_device(where);
  try {
    select_device(d);
  } catch (const error& e) {
    if (where != "auto" || e.kind != fault::memory) throw;
    remark(e.what(), "; --device auto takes the CPU");
    return {};
  }
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
  app.add_option("--applies", expected_products, "products to come: few are not worth a conversion (default: many)")
      ->type_name("N")
      ->transform(real(1))
      ->group(group);
}

void choosing::check(const std::vector<std::string>& first) const {
  check_name("format", name_before_colon(format), format_names(first));
  check_name("kernel", name_before_colon(kernel), kernel_names(first, name_before_colon(format)));
  const bool all_formats = format == "all", both_named = format != "auto" && kernel != "auto";
  const std::string_view option = tune ? "--tune" : std::isfinite(expected_products) ? "--applies" : "";
  if (option.empty() || !(all_formats || both_named)) return;
  throw error(fault::usage, fmt::format("{} helps to choose, and {}: leave {} out", option,
                                        all_formats ? "--format all takes every format"
                                                    : "--format and --kernel leave nothing to choose",
                                        option));
}

std::string where_kernels_of_gpus_run(bool plays) {
  return plays ? "--device gpu, or --device play, which plays it on the CPU" : "--device gpu";
}

void choosing::check_runs(device where, bool plays) const {
  const std::string_view name = kernel_name(kernel);
  const std::string wanted = name_before_colon(format);
  const auto among = [&](const auto& kernels) {
    return std::ranges::any_of(kernels, [&](const auto& k) { return k.name == name; });
  };
  bool gpu = false;
  for (const format_entry* f : formats()) {
    if (wanted != "auto" && wanted != "all" && wanted != f->name) continue;
    if (where.is_gpu() || among(f->cpu.kernels)) return;
    gpu = gpu || among(f->gpu.kernels);
  }
  const bool classic = std::ranges::any_of(
      play::played_formats(), [&](const auto* f) { return std::ranges::find(f->kernels, name) != f->kernels.end(); });
  furrow::check(!gpu, fault::usage, "--kernel {}: runs on a GPU alone, and this runs on the CPU: give {}", kernel,
                where_kernels_of_gpus_run(plays && classic));
}

void add_device(CLI::App& app, context& shared, std::string& where, const std::string& group) {
  shared.words[app.add_option("--device", where, "auto, cpu, gpu or gpu:N (default auto: a GPU where there is one)")
                   ->type_name("WHERE")
                   ->group(group)] = {"auto", "cpu", "gpu"};
}

void add_threads(CLI::App& app, int& count, const std::string& group) {
  app.add_option("--threads", count, "CPU threads (default: all)")
      ->type_name("N")
      ->transform(whole(1, 65536))
      ->group(group);
}

void add_repeat(CLI::App& app, int& repeat, const char* about) {
  app.add_option("--repeat", repeat, about)->type_name("N")->transform(whole(1, 1000000));
}

CLI::Option* add_file(CLI::App& app, context& shared, const char* names, std::string& file, const std::string& about,
                      const std::string& group) {
  auto* const option = app.add_option(names, file, about)->type_name("FILE")->group(group);
  shared.words[option] = {"<file>"};
  return option;
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

std::vector<std::string> kernel_names(std::vector<std::string> first, std::string_view format) {
  const auto all = formats();
  const bool one = std::ranges::any_of(all, [&](const auto* f) { return f->name == format; });
  for (const auto* f : all) {
    if (one && f->name != format) continue;
    for (const auto& k : f->cpu.kernels) append_once(first, k.name);
    for (const auto& k : f->gpu.kernels) append_once(first, k.name);
  }
  return first;
}

std::string name_before_colon(const std::string& word) { return word.substr(0, word.find(':')); }

std::vector<std::string> solver_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& s : solvers()) names.emplace_back(s.name);
  return names;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& p : preconditioners()) names.emplace_back(p.name);
  return names;
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const auto& g : generators()) names.push_back(g.usage.substr(0, g.usage.find(':') + 1));
  return names;
}

std::vector<std::string> bare_generators() {
  auto names = generator_names();
  for (auto& n : names) n.pop_back(); // the colon
  return names;
}

namespace {

/// Names that are in the folder of `file`, the folder before them as it was written.
std::vector<std::string> neighbours(const std::string& file) {
  constexpr std::size_t most = 4096;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::vector<std::string> names;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, ignored), end;
       at != end && names.size() < most; at.increment(ignored))
    if (std::string name = (folder / at->path().filename()).string(); name != file) names.push_back(std::move(name));
  std::ranges::sort(names); // of two that are alike near, always the same
  return names;
}

/// The name without folder and ending.
std::string stem_of(const std::string& file) {
  const std::filesystem::path name = std::filesystem::path(file).filename();
  for (const char* packed : {".gz", ".bz2", ".xz", ".zst"})
    if (io::has_ending(file, packed)) return name.stem().stem().string();
  return name.stem().string();
}

/// The neighbour that was meant: names that have nothing but their endings in common are not near.
std::string nearest_file(const std::string& file) {
  const auto names = neighbours(file);
  std::vector<std::string> stems(names.size());
  std::ranges::transform(names, stems.begin(), stem_of);
  const std::string guess = nearest(stem_of(file), stems);
  std::vector<std::string> alike; // names with that stem
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!guess.empty() && stems[k] == guess) alike.push_back(names[k]);
  if (alike.empty()) return {};
  const std::string whole = nearest(file, alike);
  return whole.empty() ? alike.front() : whole;
}

bool is_there(const std::string& file) {
  std::error_code why;
  const bool there = file == "-" || std::filesystem::exists(file, why);
  return there || (why && why != std::errc::no_such_file_or_directory); // reading it says what is wrong
}

/// Whether two names are one file, which need not be there yet. What is no regular file can be two outputs.
bool are_one_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  if (!io::is_replaced(a)) return false;
  std::error_code failed;
  if (std::filesystem::equivalent(a, b, failed)) return true;
  const auto whole = [&](const std::filesystem::path& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(io::behind_links(name), failed), failed);
  };
  return whole(a) == whole(b);
}

std::string hint(const std::string& guess) { return guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess); }

} // namespace

std::vector<std::string> items_of(const std::string& list, std::string_view option) {
  std::vector<std::string> items;
  for (std::size_t first = 0; first <= list.size();) {
    const std::size_t end = std::min(list.find(',', first), list.size());
    furrow::check(end > first, fault::usage, "{}: '{}' has an empty item: leave the comma beside it out", option, list);
    items.push_back(list.substr(first, end - first));
    first = end + 1;
  }
  return items;
}

void check_one_standard_output(bool json, std::initializer_list<std::string_view> outputs) {
  const auto asked = std::ranges::count(outputs, std::string_view("-"));
  furrow::check(!json || asked == 0, fault::usage,
                "--json and '-' for the output both want standard output: name a file for the output");
  furrow::check(asked <= 1, fault::usage,
                "'-' is given for {} outputs, and there is one standard output: name files for the others", asked);
}

void check_generator(const std::string& file) {
  if (is_generator(file) && !is_there(file)) check_name("generator", file.substr(0, file.find(':')), bare_generators());
}

void check_matrix(const std::string& file) {
  check_generator(file);
  if (is_generator(file) || is_there(file)) return;
  const auto names = bare_generators();
  if (std::ranges::find(names, file) != names.end()) return; // its arguments are missing, and are asked for
  std::string guess = nearest_file(file);
  if (guess.empty())
    if (const std::string generator = nearest(file, names); !generator.empty()) guess = generator + ":...";
  throw error(fault::input, fmt::format("{}: there is no such file{}", file, hint(guess)));
}

void check_input(const std::string& file, std::string_view option) {
  if (file.empty() || is_there(file)) return;
  throw error(fault::input, fmt::format("{}: there is no such file for {}{}", file, option, hint(nearest_file(file))));
}

void check_output(const std::string& file, std::string_view option, const std::vector<std::string_view>& others) {
  if (file.empty() || file == "-") return;
  std::error_code ignored;
  check(!std::filesystem::is_directory(file, ignored), fault::input,
        "{}: is a folder, not a file: choose another name for {}", file, option);
  const bool replaced = io::is_replaced(file);
  const auto behind = std::filesystem::absolute(io::behind_links(file), ignored);
  check(std::filesystem::is_directory(behind.parent_path(), ignored), fault::input,
        "{}: cannot be written: its folder does not exist: make it, or choose another name for {}", file, option);
  const auto must_be_writable = [&](const std::filesystem::path& what) {
    const int why = ::access(what.c_str(), W_OK) == 0 ? 0 : errno;
    check(why == 0, fault::input, "{}: cannot be written: {}", file, std::strerror(why));
  };
  if (replaced) must_be_writable(behind.parent_path());
  if (std::filesystem::exists(file, ignored)) must_be_writable(file);
  for (const auto other : others)
    check(other.empty() || !are_one_file(file, other), fault::usage,
          "{} and {} are the same file: choose another name for {}", other, file,
          option == "OUT" ? "the output" : option);
  if (replaced) const io::atomic_file tried(file); // what else the system refuses: nothing of it stays
}

void use_threads(int count) {
  set_threads(count);
  const int wanted = count > 0 ? count : cpu::processors();
  if (threads() < wanted) remark(fmt::format("{} threads cannot be started: going on with {}", wanted, threads()));
}

void check_ending(const std::string& file, std::string_view option, std::string_view what,
                  const std::vector<std::string>& written) {
  // Longer endings before those that they end with.
  static constexpr std::string_view known[] = {
      ".mtx.gz", ".txt.gz", ".csv.gz",  ".tar.gz", ".mtx",    ".txt",  ".csv", ".tsv", ".furrow", ".petsc",
      ".npy",    ".npz",    ".mat",     ".m",      ".h5",     ".hdf5", ".rb",  ".hb",  ".rsa",    ".rua",
      ".json",   ".xlsx",   ".parquet", ".pkl",    ".pickle", ".svg",  ".png", ".pdf", ".jpg",    ".eps",
      ".gif",    ".html",   ".tgz",     ".tar",    ".gz",     ".zip",  ".bz2", ".xz",  ".zst",    ".7z"};
  const auto* const ending = std::ranges::find_if(known, [&](auto e) { return io::has_ending(file, e); });
  if (ending == std::end(known) || std::ranges::find(written, *ending) != written.end()) return;
  throw error(fault::usage,
              fmt::format("{}: {} is written as {}: choose {} for {}", file, what, fmt::join(written, ", "),
                          written.size() > 1 ? "one of these endings" : "this ending", option));
}

} // namespace furrow::cli
