// SPDX-License-Identifier: BSD-3-Clause
#include "bench/spmv/campaign.hpp"
#include "comparison.hpp"
#include "exit_code.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "text.hpp"

#include "core/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace furrow::cli::paper_bench {
namespace {

using spmv_bench::campaign;
using spmv_bench::outcome;
using spmv_bench::wish;

struct options {
  std::string matrices;
  std::vector<std::string> only;
  machine_options machine;
  spmv_bench::campaign_options campaign;
};

std::string_view format_name(const method& m) { return m.format.substr(0, m.format.find(':')); }
bool exists(const method& m) {
  return std::ranges::any_of(formats(), [&](const auto* f) { return f->name == format_name(m); });
}
bool has_kernel(const method& m, device where) {
  return std::ranges::any_of(find_format(format_name(m)).backend(where).kernels,
                             [&](const auto& k) { return k.name == m.kernel(where.is_gpu()); });
}

/// The file of a matrix in `folder`, in a folder of its own or in that of its group; empty where it is not there.
std::string file_named(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  std::vector<std::filesystem::path> places{folder, folder / name};
  for (const auto& group : std::filesystem::directory_iterator(folder, ignored))
    if (group.is_directory(ignored)) places.insert(places.end(), {group.path(), group.path() / name});
  for (const char* ending : {".mtx", ".mtx.gz", ".tar.gz", ".furrow"})
    for (const auto& place : places)
      if (const auto file = place / (name + ending); std::filesystem::is_regular_file(file, ignored))
        return file.string();
  return {};
}

/// The same by the name that the collection gives a matrix, or Williams, from whom the paper has them.
std::string file_of(const std::string& folder, std::string_view name) {
  if (folder.empty() || name.empty()) return {};
  const std::string found = file_named(folder, std::string(name));
  return found.empty() && name == "conf5_4-8x8-05" ? file_named(folder, "qcd5_4") : found;
}

/// What of the paper's methods is there, and "auto" beside them.
std::vector<wish> wishes_of(const suite& s, device where, const campaign& c) {
  std::vector<wish> wishes{{"auto", "auto"}};
  for (const auto& m : s.methods)
    if (!exists(m)) c.say(fmt::format("  {}: there is no format '{}' in this build\n", m.name, m.format));
    else if (!has_kernel(m, where))
      c.say(fmt::format("  {}: format {} has no kernel like {} on this device\n", m.name, m.format, m.gpu_kernel));
    else wishes.push_back({std::string(m.format), std::string(m.kernel(where.is_gpu()))});
  return wishes;
}

/// Which figures say little about the real matrices.
void say_stand_ins(const std::vector<compared>& all, const campaign& c) {
  std::string names;
  for (const compared& one : all)
    if (one.stand_in) names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", one.it->name, one.it->file);
  if (!names.empty()) c.say(fmt::format("\nGenerated stand-ins, for which --matrices has no file: {}\n", names));
}

int run(options& o) {
  std::vector<std::string> names;
  for (const auto& s : suites())
    for (const auto& it : s.subjects) names.emplace_back(it.name);
  for (const auto& word : o.only) check_name("matrix of the paper", word, names);
  check(o.matrices.empty() || std::filesystem::is_directory(o.matrices), fault::input, "{}: is no folder", o.matrices);
  const device where = o.machine.apply();
  campaign c("paper", o.campaign, o.machine.all_values(), where);
  std::vector<compared> all;
  for (const auto& s : suites()) {
    const auto wanted = [&](const subject& it) {
      return o.only.empty() || std::ranges::find(o.only, it.name) != o.only.end();
    };
    if (std::ranges::none_of(s.subjects, wanted)) continue;
    c.say(fmt::format("\n{}\n", s.name));
    const auto wishes = wishes_of(s, where, c);
    for (const auto& it : s.subjects) {
      if (!wanted(it)) continue;
      const std::string file = file_of(o.matrices, it.file);
      const bool stand_in = file.empty() && !it.file.empty();
      c.say(fmt::format("\n{}: {}\n", it.name,
                        stand_in          ? fmt::format("stand-in for {}: {}", it.file, it.stand_in)
                        : it.file.empty() ? "as in the paper"
                                          : file));
      compared one{&s, &it, stand_in, {}, {}};
      const outcome* found = c.measure(file.empty() ? std::string(it.stand_in) : file, wishes, one.label());
      if (!found) continue;
      one = compare(s, it, stand_in, *found, o.machine.all_values(), where.is_gpu());
      c.say(text_of(one, *found, o.machine.all_values(), 1e-9 * c.ceiling()));
      c.note(json_of(one, 1e-9 * c.ceiling()));
      all.push_back(std::move(one));
    }
  }
  say_stand_ins(all, c);
  if (!o.campaign.folder.empty())
    draw(o.campaign.folder, describe(where), all, o.machine.all_values(), 1e-9 * c.ceiling());
  return c.finish();
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  shared.words[app.add_option("--matrices", o->matrices,
                              "a folder with the paper's matrices from the SuiteSparse collection")
                   ->type_name("DIR")] = {"<file>"};
  app.add_option_function<std::string>(
         "--only", [o](const std::string& list) { o->only = items_of(list, "--only"); },
         "some of the matrices, by their names in the paper, joined by commas")
      ->type_name("NAMES");
  o->campaign.add(app);
  o->machine.add(app, shared, true);
  app.footer(
      "Reruns the tables of Bell and Garland, Efficient sparse matrix-vector multiplication on CUDA (2008), and\n"
      "sets their GFLOP/s on a GTX 280 beside those of this machine; the last column divides both by the\n"
      "bandwidth: 141.7 GB/s there, the measured read ceiling here. A matrix that --matrices does not have is\n"
      "stood in for by a generated one of the same rows and entries, and named so.\n\n"
      "Examples:\n"
      "  furrow bench paper --device gpu -o results\n"
      "  furrow bench paper --only 7-point,QCD --precision f64");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{
    "paper", "Rerun the tables of Bell and Garland (2008) and compare, bandwidth for bandwidth.", setup};

} // namespace furrow::cli::paper_bench
