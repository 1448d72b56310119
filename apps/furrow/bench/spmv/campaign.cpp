// SPDX-License-Identifier: BSD-3-Clause
#include "campaign.hpp"
#include "bench/conditions.hpp"
#include "exit_code.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "text.hpp"

#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace furrow::cli::spmv_bench {

void campaign_options::add(CLI::App& app) {
  app.add_option("--seconds", seconds, "time for each measurement (default 0.1)")
      ->type_name("S")
      ->transform(real(0, 3600));
  add_repeat(app, repeat, "timed samples instead of a time");
  app.get_option("--repeat")->excludes("--seconds");
  app.add_option("--turns", turns, "go over all contenders N times, the fastest turn of each counts (default 1)")
      ->type_name("N")
      ->transform(whole(1, 1000));
  app.add_flag("--cold", cold, "flush the caches before every sample");
  app.add_flag("--check", check, "compare every row with a reference in long double, rivals too");
  app.add_flag("!--no-rivals", rivals, "leave other libraries out");
  app.add_flag("!--no-ceiling", ceiling, "do not measure how fast as much is read at best");
  app.add_option("-o,--output", folder, "a folder for results.json and the pictures")->type_name("FOLDER");
  app.add_flag("--json", json, "one JSON object on stdout, the rows on stderr");
}

namespace {

std::string machine_text(const json& conditions, device where) {
  if (where.is_gpu()) return describe(where);
  return fmt::format("{}, threads: {}", conditions["processor"].get<std::string>(), threads());
}

} // namespace

campaign::campaign(std::string bench, const campaign_options& o, const std::vector<precision>& values, device where)
    : bench_(std::move(bench)), options_(o), ceilings_(where, o.ceiling) {
  plan_ = {where, values, {}, {o.repeat, o.seconds, nullptr}, o.check, o.rivals, o.tune, o.copies, o.turns};
  plan_.cold = o.cold;
  plan_.ceiling = [this](double bytes) { return options_.cold ? ceilings_.of_memory() : ceilings_.of(bytes); };
  if (!o.folder.empty()) make_folder(o.folder);
  conditions_ = conditions(where);
  if (const std::string absent = absent_rivals(where); o.rivals && !absent.empty()) remark(absent);
  ceiling_ = ceilings_.of_memory();
  say(head_text(where, ceiling_, o.rivals));
}

void campaign::say(const std::string& text) const {
  if (options_.json) put_on_stderr(text);
  else print(text);
}

const outcome* campaign::measure(const std::string& file, const std::vector<wish>& wishes, const std::string& name) {
  const listener aloud{
      [&](const outcome& o) { say(loaded_text(o, options_.check)); },
      [&](const outcome& o, const product& m) { say(row_text(o, m)); },
      [&](const left_out& s) { say(skipped_text(s)); },
  };
  const auto fail = [&](int code, const std::string& why) {
    remark(why.starts_with(printable(file) + ":") ? why : fmt::format("{}: {}", file, why));
    failed_.push_back({{"file", file}, {"why", why}});
    exit_code_ = std::max(exit_code_, code);
    keep();
    return nullptr;
  };
  plan_.wishes = wishes;
  try {
    check_matrix(file);
    std::optional<cache_flush> flush;
    if (options_.cold) flush.emplace(plan_.where);
    plan_.how.flush = flush ? &*flush : nullptr;
    outcomes_.push_back(measure_matrix(file, plan_, aloud));
  } catch (const error& e) {
    return fail(code_of(e.kind), e.what());
  } catch (const std::bad_alloc&) {
    return fail(no_resource, "out of memory");
  } catch (const std::exception& e) {
    return fail(broken, e.what());
  }
  if (!name.empty()) outcomes_.back().name = name;
  const outcome& o = outcomes_.back();
  say(verdict_text(o, plan_.precisions));
  for (const auto& m : o.products)
    if (m.row_error && !(*m.row_error <= 1)) {
      remark(fmt::format("{}: {} {} {}: a row is {:.3g} times the rounding bound away from the reference", o.name,
                         m.library, m.format, m.kernel, *m.row_error));
      if (m.ours()) exit_code_ = broken;
    }
  matrices_.push_back(json_of(o, plan_.precisions));
  keep();
  return &o;
}

void campaign::note(const json& fields) {
  matrices_.back().update(fields);
  keep();
}

json campaign::results() const {
  json j{{"bench", bench_}};
  j.update(conditions_);
  j["cold"] = options_.cold;
  j["seconds_each"] = options_.seconds;
  j["turns"] = options_.turns;
  j["ceiling_gbps"] = number(1e-9 * ceiling_);
  j["matrices"] = matrices_;
  j["failed"] = failed_;
  j["summary"] = summary_json(outcomes_, plan_.precisions);
  return j;
}

void campaign::keep() const {
  if (!options_.folder.empty()) write_into(options_.folder, "results.json", json_text(results(), 1));
}

int campaign::finish() {
  say(summary_text(outcomes_, plan_.precisions));
  keep();
  if (!options_.folder.empty() && !outcomes_.empty())
    draw(options_.folder, machine_text(conditions_, plan_.where), outcomes_, plan_.precisions, ceiling_);
  if (options_.json) print(json_text(results()));
  const auto is_empty = [](const outcome& o) {
    return std::ranges::none_of(o.products, [](const product& m) { return m.ours(); });
  };
  if (exit_code_ == done && std::ranges::all_of(outcomes_, is_empty)) {
    remark("nothing was measured: every format and kernel that was asked for is left out");
    return usage;
  }
  return exit_code_;
}

} // namespace furrow::cli::spmv_bench
