// SPDX-License-Identifier: BSD-3-Clause
#include "bench/spmv/campaign.hpp"
#include "exit_code.hpp"
#include "figures.hpp"
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

/// A method of the paper beside the same on this machine.
struct comparison {
  const method* what = nullptr;
  precision values = precision::f64;
  double then = 0, now = 0; ///< GFLOP/s; 0: the method is not on this device
  std::string kernel;
};

bool exists(std::string_view format) {
  return std::ranges::any_of(formats(), [&](const auto* f) { return f->name == format; });
}
bool has_kernel(const method& m, device where) {
  const auto& kernels = find_format(m.format).backend(where).kernels;
  return m.kernel == "auto" || std::ranges::any_of(kernels, [&](const auto& k) { return k.name == m.kernel; });
}

/// The file of a matrix in `folder`, by the name that the collection gives it; empty where it is not there.
std::string file_of(const std::string& folder, std::string_view name) {
  if (folder.empty() || name.empty()) return {};
  for (const char* ending : {".mtx", ".mtx.gz", ".tar.gz", ".furrow"})
    for (const auto& place : {std::filesystem::path(folder), std::filesystem::path(folder) / name}) {
      const auto file = place / (std::string(name) + ending);
      std::error_code ignored;
      if (std::filesystem::is_regular_file(file, ignored)) return file.string();
    }
  return {};
}

std::vector<comparison> compare(const suite& s, const subject& it, const outcome& o,
                                const std::vector<precision>& values) {
  std::vector<comparison> rows;
  for (const precision p : values)
    for (std::size_t k = 0; k < s.methods.size(); ++k) {
      const method& m = s.methods[k];
      comparison c{&m, p, p == precision::f64 ? it.speeds[k].f64 : it.speeds[k].f32, 0, {}};
      for (const auto& found : o.products)
        if (found.ours() && found.values == p && found.format == m.format &&
            (m.kernel == "auto" || found.kernel.starts_with(m.kernel)) && found.gflops(o.s.nnz) > c.now) {
          c.now = found.gflops(o.s.nnz);
          c.kernel = found.kernel;
        }
      rows.push_back(std::move(c));
    }
  return rows;
}

std::string text_of(const std::vector<comparison>& rows, const outcome& o, const std::vector<precision>& values,
                    double ceiling_gbps) {
  std::string text = fmt::format("  beside the paper  {:<12} {:>10} {:>10} {:>8} {:>22}\n", "", device_of_the_paper,
                                 "here", "ratio", "ratio for each GB/s");
  for (const auto& c : rows) {
    const auto best_of = [&](double comparison::*speed) {
      return std::ranges::all_of(rows, [&](const auto& r) { return r.values != c.values || r.*speed <= c.*speed; });
    };
    const auto marked = [](double speed, bool best) {
      return speed > 0 ? fmt::format("{}{:.1f}", best ? "*" : "", speed) : std::string("-");
    };
    text += fmt::format("  {} {:<27} {:>9} {:>10}", spmv_bench::name_of(c.values), c.what->name,
                        marked(c.then, best_of(&comparison::then)), marked(c.now, best_of(&comparison::now)));
    if (c.now > 0)
      text +=
          fmt::format(" {:>8.3g} {:>22.3f}", c.now / c.then, c.now / ceiling_gbps / (c.then / bandwidth_of_the_paper));
    text += "\n";
  }
  for (const precision p : values)
    if (const auto* best = o.best(p)) {
      double then = 0;
      for (const auto& c : rows)
        if (c.values == p) then = std::max(then, c.then);
      const double now = best->gflops(o.s.nnz);
      text += fmt::format("  {} best against best{:>17.1f} {:>10.1f} {:>8.3g} {:>22.3f}\n", spmv_bench::name_of(p),
                          then, now, now / then, now / ceiling_gbps / (then / bandwidth_of_the_paper));
    }
  return text;
}

json json_of(const suite& s, const subject& it, bool stand_in, const std::vector<comparison>& rows,
             double ceiling_gbps) {
  json j{{"suite", s.name}, {"name", it.name}, {"matrix_of_the_paper", it.file}, {"stand_in", stand_in}};
  j["rows"] = json::array();
  for (const auto& c : rows) {
    json one{{"method", c.what->name},
             {"precision", spmv_bench::name_of(c.values)},
             {"gflops_then", c.then},
             {"gflops_now", nullptr}};
    if (c.now > 0) {
      one["gflops_now"] = c.now;
      one["kernel"] = c.kernel;
      one["ratio"] = c.now / c.then;
      one["ratio_per_bandwidth"] = c.now / ceiling_gbps / (c.then / bandwidth_of_the_paper);
    }
    j["rows"].push_back(std::move(one));
  }
  return {{"paper", std::move(j)}};
}

/// What of the paper's methods is there, and "auto" beside them.
std::vector<wish> wishes_of(const suite& s, device where, const campaign& c) {
  std::vector<wish> wishes{{"auto", "auto"}};
  for (const auto& m : s.methods)
    if (!exists(m.format)) c.say(fmt::format("  {}: there is no format '{}' in this build\n", m.name, m.format));
    else if (!has_kernel(m, where))
      c.say(fmt::format("  {}: format {} has no kernel '{}' on this device\n", m.name, m.format, m.kernel));
    else wishes.push_back({std::string(m.format), std::string(m.kernel)});
  return wishes;
}

int run(options& o) {
  std::vector<std::string> names;
  for (const auto& s : suites())
    for (const auto& it : s.subjects) names.emplace_back(it.name);
  for (const auto& word : o.only) check_name("matrix of the paper", word, names);
  check(o.matrices.empty() || std::filesystem::is_directory(o.matrices), fault::input, "{}: is no folder", o.matrices);
  const device where = o.machine.apply();
  campaign c("paper", o.campaign, o.machine.all_values(), where);
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
                        stand_in          ? fmt::format("stand-in for {}", it.file)
                        : it.file.empty() ? "as in the paper"
                                          : it.file));
      const outcome* found = c.measure(file.empty() ? std::string(it.stand_in) : file, wishes);
      if (!found) continue;
      const auto rows = compare(s, it, *found, o.machine.all_values());
      c.say(text_of(rows, *found, o.machine.all_values(), 1e-9 * c.ceiling()));
      c.note(json_of(s, it, stand_in, rows, 1e-9 * c.ceiling()));
    }
  }
  return c.finish();
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  shared.words[app.add_option("--matrices", o->matrices,
                              "a folder with the paper's matrices from the SuiteSparse collection")
                   ->type_name("DIR")] = {"<file>"};
  app.add_option("--only", o->only, "some of the matrices, by their names in the paper, joined by commas")
      ->type_name("NAMES")
      ->delimiter(',');
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
