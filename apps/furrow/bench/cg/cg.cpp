// SPDX-License-Identifier: BSD-3-Clause
#include "bench/conditions.hpp"
#include "exit_code.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "report.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include "core/printable.hpp"
#include "tune/ceiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace furrow::cli::cg_bench {
namespace {

struct options {
  std::vector<std::string> files;
  std::string format = "auto", kernel = "auto", folder;
  machine_options machine;
  double rtol = 0;
  int turns = 5;
  bool ceiling = true, json = false;
};

/// A small one, which waits and launches take their time of, and one of many bytes.
std::vector<std::string> usual_matrices(device where) {
  return {"poisson3d:20", where.is_gpu() ? "poisson3d:100" : "poisson3d:60"};
}

/// Matrices measured one after the other; one that fails is said by name and remembered.
class tables {
public:
  tables(const options& o, const plan& p) : options_(o), plan_(p) {}

  std::optional<outcome> measure(const std::string& file) {
    const auto fail = [&](int code, const std::string& why) {
      remark(why.starts_with(printable(file) + ":") ? why : fmt::format("{}: {}", file, why));
      failed.push_back({{"file", file}, {"why", why}});
      exit = std::max(exit, code);
      return std::nullopt;
    };
    try {
      check_matrix(file);
      outcome found = measure_matrix(file, plan_);
      for (const auto& f : found.forms)
        if (f.report.why != status::converged) exit = std::max<int>(exit, code_of(f.report.why, true));
      return found;
    } catch (const error& e) {
      return fail(code_of(e.kind), e.what());
    } catch (const std::bad_alloc&) {
      return fail(no_resource, "out of memory");
    }
  }
  void say(const std::string& text) const {
    if (options_.json) put_on_stderr(text);
    else print(text);
  }

  json failed = json::array();
  int exit = done;

private:
  const options& options_;
  const plan& plan_;
};

int run(const options& o) {
  for (const auto& file : o.files) check_generator(file);
  plan p;
  p.where = o.machine.apply();
  const auto files = o.files.empty() ? usual_matrices(p.where) : o.files;
  p.values = o.machine.values();
  check_name("format", name_before_colon(o.format), format_names({"auto"}));
  check_name("kernel", name_before_colon(o.kernel), kernel_names({"auto"}));
  p.format = o.format;
  p.kernel = o.kernel;
  p.rtol = o.rtol;
  p.turns = o.turns;
  read_ceilings ceilings(p.where, o.ceiling);
  p.ceiling = [&](double bytes) { return ceilings.of(bytes); };
  if (!o.folder.empty()) make_folder(o.folder);

  tables b(o, p);
  const double ceiling = ceilings.of_memory();
  b.say(head_text(p.where, ceiling));
  json j{{"bench", "cg"}};
  j.update(conditions(p.where, {}));
  j["turns"] = p.turns;
  j["rtol"] = p.goal();
  j["ceiling_gbps"] = number(1e-9 * ceiling);
  j["matrices"] = json::array();
  std::vector<outcome> all;
  const auto keep = [&] {
    j["failed"] = b.failed;
    if (!o.folder.empty()) write_into(o.folder, "results.json", json_text(j, 1));
  };
  for (const auto& file : files) {
    if (auto found = b.measure(file)) {
      b.say(table_text(*found));
      j["matrices"].push_back(json_of(*found));
      all.push_back(std::move(*found));
    }
    keep();
  }
  if (!o.folder.empty() && !all.empty())
    draw(o.folder, p.where.is_gpu() ? describe(p.where) : j["processor"].get<std::string>(), all, p.values);
  if (o.json) print(json_text(j));
  return b.exit;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  auto* files =
      app.add_option(
             "FILES", o->files,
             "symmetric positive definite matrices (default poisson3d:20 and poisson3d:100, on a CPU poisson3d:60)")
          ->type_name("");
  shared.words[files] = generator_names();
  shared.words[files].emplace_back("<file>");
  shared.words[app.add_option("--format", o->format, "auto or a format: of the product in all forms (default auto)")
                   ->type_name("NAME")] = format_names({"auto"});
  shared.words[app.add_option("--kernel", o->kernel, "auto or a kernel of that format (default auto)")
                   ->type_name("NAME")] = kernel_names({"auto"});
  app.add_option("--rtol", o->rtol, "solve to |b - A x| <= R |b| (default 1e-8, in f32 1e-4)")
      ->type_name("R")
      ->transform(between(0, 1));
  app.add_option("--turns", o->turns, "go over all forms N times, medians count (default 5)")
      ->type_name("N")
      ->transform(whole(1, 1000));
  app.add_flag("!--no-ceiling", o->ceiling, "do not measure how fast as much is read at best");
  app.add_option("-o,--output", o->folder, "a folder for results.json and the picture")->type_name("FOLDER");
  app.add_flag("--json", o->json, "one JSON object on stdout, the tables on stderr");
  o->machine.add(app, shared);
  app.footer("From the tutorial's conjugate gradients to --solver cg, a change at a time: the passes fused, then the "
             "scalars\nbeside the vectors, and on a GPU the host that no longer looks at every step, then the graph. "
             "'*' marks what\n--solver cg runs here. Waits are those of a whole solve, an iteration.\n\n"
             "Examples:\n"
             "  furrow bench cg --device gpu -o results\n"
             "  furrow bench cg poisson3d:50 --format csr --turns 9");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{"cg", "Time conjugate gradients from a tutorial's form to ours, a change at a time.",
                              setup};

} // namespace furrow::cli::cg_bench
