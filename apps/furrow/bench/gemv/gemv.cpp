// SPDX-License-Identifier: BSD-3-Clause
#include "bench/conditions.hpp"
#include "exit_code.hpp"
#include "gemv/gemv_request.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "report.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "tune/ceiling.hpp"

#include <algorithm>
#include <optional>

namespace furrow::cli::gemv_bench {
namespace {

std::vector<std::string> all_types() { return {"f64", "f32", "f16", "bf16"}; }
std::vector<std::string> all_layouts() { return {"row", "col"}; }
std::vector<std::string> all_operations() { return {"n", "t"}; }

struct options {
  std::vector<std::string> shapes;
  std::string types, layouts, operations, where = "auto", folder;
  int thread_count = 0, repeat = 0, turns = 0; ///< 0: nobody said, which is one
  double seconds = 0.1;
  bool cold = false, rivals = true, ceiling = true, json = false;
};

/// Squares, wide and narrow, tall and short: what docs/gemv.md has a table of; smaller where a CPU is to do it.
std::vector<shape2> usual_shapes(device where) {
  if (where.is_gpu())
    return {{512, 512},    {1024, 1024},  {2048, 2048},   {4096, 4096},   {8192, 8192},  {16384, 16384},
            {64, 4194304}, {4194304, 64}, {1000, 300000}, {300000, 1000}, {2, 33554432}, {33554432, 2},
            {8, 10000000}, {10000000, 8}, {10, 10000000}, {10000000, 10}};
  return {{512, 512},    {1024, 1024},  {2048, 2048}, {4096, 4096}, {8192, 8192}, {64, 524288}, {524288, 64},
          {1000, 40000}, {40000, 1000}, {2, 8388608}, {8388608, 2}, {8, 2500000}, {2500000, 8}, {100, 100},
          {64, 1000},    {1000, 64},    {5, 5000},    {5000, 5},    {20, 50000},  {50000, 20}};
}

/// The words of a list joined by commas; all of them where nothing is said.
std::vector<std::string> words_of(const std::string& kind, const std::string& list, std::string_view option,
                                  const std::vector<std::string>& all) {
  if (list.empty()) return all;
  auto words = items_of(list, option);
  for (const auto& word : words) check_name(kind, word, all);
  return words;
}

int run(const options& o) {
  check(o.turns == 0 || o.rivals, fault::usage,
        "--turns takes turns with other libraries, and --no-rivals leaves them out: leave one of the two out");
  const int turns = std::max(o.turns, 1);
  plan p;
  p.types = words_of("type", o.types, "--type", all_types());
  p.layouts = words_of("layout", o.layouts, "--layout", all_layouts());
  p.operations = words_of("operation", o.operations, "--op", all_operations());
  for (const auto& text : o.shapes) p.shapes.push_back(parse_shape(text));
  p.where = use_device(o.where, o.thread_count);
  if (p.shapes.empty()) p.shapes = usual_shapes(p.where);
  p.rivals = o.rivals;
  p.cold = o.cold;
  p.how = {o.repeat, o.seconds, nullptr};
  p.turns = turns;
  std::optional<cache_flush> flush;
  if (o.cold) flush.emplace(p.where);
  if (flush) p.how.flush = &*flush;
  if (!o.folder.empty()) make_folder(o.folder);
  const rivals libraries = bench::dense_libraries();
  if (const std::string absent = absent_rivals(p.where, libraries); o.rivals && !absent.empty()) remark(absent);

  const auto say = [&](const std::string& text) {
    if (o.json) put_on_stderr(text);
    else print(text);
  };
  read_ceilings ceilings(p.where, o.ceiling);
  const double ceiling = ceilings.of_memory();
  p.ceiling = [&](double bytes) { return o.cold ? ceiling : ceilings.of(bytes); };
  say(head_text(p.where, ceiling, o.rivals));
  std::vector<product> all;
  json j{{"bench", "gemv"}};
  j.update(conditions(p.where, libraries));
  j["cold"] = o.cold;
  j["seconds_each"] = o.seconds;
  j["turns"] = turns;
  j["ceiling_gbps"] = number(1e-9 * ceiling);
  j["results"] = json::array();
  const auto done = [&](const product& m) {
    all.push_back(m);
    j["results"].push_back(json_of(m));
    say(row_text(m));
  };
  measure(p, done, [](const std::string& why) { remark(why); });
  j["summary"] = summary_json(all);
  say(summary_text(all));
  if (!o.folder.empty()) {
    write_into(o.folder, "results.json", json_text(j, 1));
    draw(o.folder, p.where.is_gpu() ? describe(p.where) : j["processor"].get<std::string>(), all);
  }
  if (o.json) print(json_text(j));
  return all.empty() ? no_resource : cli::done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  app.add_option("SHAPES", o->shapes, "rows and columns of A, such as 4096x4096 (default: squares, wide, tall)")
      ->type_name("");
  const auto list = [&](const char* name, std::string& to, const char* about, const std::vector<std::string>& words) {
    shared.words[app.add_option(name, to, about)->type_name("LIST")] = words;
  };
  list("--type", o->types, "f64, f32, f16, bf16, joined by commas (default: all)", all_types());
  list("--layout", o->layouts, "row, col: which of them are contiguous (default: both)", all_layouts());
  list("--op", o->operations, "n: y = A x, t: y = A' x (default: both)", all_operations());
  app.add_option("--seconds", o->seconds, "time for each measurement (default 0.1)")
      ->type_name("S")
      ->transform(real(0, 3600));
  add_repeat(app, o->repeat, "timed samples instead of a time");
  app.get_option("--repeat")->excludes("--seconds");
  app.add_option("--turns", o->turns,
                 "take turns with other libraries N times; ratios are the middle one of the turns (default 1)")
      ->type_name("N")
      ->transform(whole(1, 1000));
  app.add_flag("--cold", o->cold, "flush the caches before every sample");
  app.add_flag("!--no-rivals", o->rivals, "leave other libraries out");
  app.add_flag("!--no-ceiling", o->ceiling, "do not measure how fast as much is read at best");
  add_device(app, shared, o->where);
  add_threads(app, o->thread_count);
  app.add_option("-o,--output", o->folder, "a folder for results.json and the pictures")->type_name("FOLDER");
  app.add_flag("--json", o->json, "one JSON object on stdout, the rows on stderr");
  app.footer("Rivals: cuBLAS on a GPU, OpenBLAS on a CPU; the number behind their time is that time over ours.\n\n"
             "Examples:\n"
             "  furrow bench gemv --device gpu --cold -o results\n"
             "  furrow bench gemv 4096x4096 1000x300000 --type f32 --layout col");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{"gemv", "Time dense products y = A x of many shapes, beside cuBLAS or OpenBLAS.", setup};

} // namespace furrow::cli::gemv_bench
