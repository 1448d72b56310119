// SPDX-License-Identifier: BSD-3-Clause
#include "played_text.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "picture/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace furrow::cli {
namespace {

const char* word_of(play::turns order) {
  return order == play::turns::random ? "random" : order == play::turns::descending ? "descending" : "ascending";
}

std::string row_of(const play::traffic& t, int wave) {
  const double idle = 1 - double(t.lanes) / double(t.instructions * wave);
  const std::string lines = t.shared ? "" : fmt::format("{:.2f}", double(t.lines) / double(t.instructions));
  const std::string used = t.shared ? "" : fmt::format("{:.0f} %", 100 * double(t.bytes) / (128 * double(t.lines)));
  std::string row = fmt::format("    {:<10} {:<12} {:>12} {:>6} {:>10} {:>11} {:>13} {:>10}", t.array,
                                fmt::format("{}{}", t.shared ? "shared " : "", t.stores ? "store" : "load"),
                                count_text(t.instructions), fmt::format("{:.0f} %", 100 * idle),
                                bytes_text(double(t.bytes)), lines, used, t.shared ? count_text(t.conflicts) : "");
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

} // namespace

void add_played(CLI::App& app, context& shared, std::string& play, std::string& trace) {
  auto* const where = app.get_option("--device");
  where->description("auto, cpu, gpu, gpu:N, or play: a classic kernel without a GPU (default auto)");
  shared.words[where].emplace_back("play");
  const auto* const group = "Play";
  app.add_option("--play", play, "wave=32|64, order=ascending|descending|random, seed=N, between commas")
      ->type_name("SETTINGS")
      ->group(group);
  add_file(app, shared, "--trace", trace, "draw which lane reads what, when, as SVG", group);
}

play::settings parse_play(const std::string& words, const std::string& trace) {
  play::settings how;
  constexpr index_t drawn = 96; // steps that can still be told apart
  if (!trace.empty()) how.traced = drawn;
  const auto number = [&](std::string_view key, std::string_view text) {
    std::uint64_t n = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
    check(failed == std::errc() && end == text.data() + text.size(), fault::usage,
          "--play: {} is a whole number, not '{}'", key, text);
    return n;
  };
  std::vector<std::string> seen;
  for (const std::string& word : words.empty() ? std::vector<std::string>{} : items_of(words, "--play")) {
    const auto equals = std::min(word.find('='), word.size());
    const std::string key = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
    check_name("setting of --play", key, {"wave", "order", "seed"});
    check(std::ranges::find(seen, key) == seen.end(), fault::usage, "--play: {} is given twice: give it once", key);
    seen.push_back(key);
    if (key == "seed") how.seed = number(key, value);
    if (key == "wave") {
      check(value == "32" || value == "64", fault::usage, "--play: a wave has 32 or 64 lanes, not '{}'", value);
      how.wave = static_cast<int>(number(key, value));
    }
    if (key == "order") {
      check_name("order of warps", value, {"ascending", "descending", "random"});
      how.order = value == "random"       ? play::turns::random
                  : value == "descending" ? play::turns::descending
                                          : play::turns::ascending;
    }
  }
  check(how.order == play::turns::random || std::ranges::find(seen, "seed") == seen.end(), fault::usage,
        "--play: seed is of a random order: add order=random, or leave seed out");
  return how;
}

void check_threads_of_play(int thread_count) {
  check(thread_count == 0, fault::usage,
        "--device play: a kernel is played by one thread, one lane after the other: leave --threads out");
}

void check_measuring_of_play(int repeat, bool ceiling, bool compared) {
  check(repeat == 0, fault::usage, "--repeat times products, and a kernel that is played has no speed");
  check(ceiling, fault::usage, "--device play: a kernel that is played has no speed: leave --no-ceiling out");
  check(!compared, fault::usage, "--device play: every row is compared with a reference anyway: leave --check out");
}

void check_not_played(const std::string& play, const std::string& trace) {
  check(play.empty() && trace.empty(), fault::usage, "{} is for kernels that are played: add --device play",
        play.empty() ? "--trace" : "--play");
}

std::string order_text(const play::settings& how) {
  return fmt::format("warps of {} lanes in {} order", how.wave, word_of(how.order));
}

void add_settings(json& to, const play::settings& how) {
  to["wave"] = how.wave;
  to["order"] = word_of(how.order);
  if (how.order == play::turns::random) to["seed"] = how.seed;
}

std::string table_of(const play::kernel_report& k) {
  std::string text =
      fmt::format("  {}: {} of {}, {}, {}\n", k.kernel, counted_text(k.blocks, "block"), counted(k.threads, "thread"),
                  counted_text(k.barriers, "barrier"), counted_text(k.shuffles, "shuffle"));
  text += dim(fmt::format("    {:<10} {:<12} {:>12} {:>6} {:>10} {:>11} {:>13} {:>10}\n", "array", "", "accesses",
                          "idle", "bytes", "lines each", "of them used", "conflicts"));
  for (const auto& t : k.arrays) text += row_of(t, k.wave);
  for (const auto& f : k.faults) text += bad(fmt::format("    {}\n", f));
  return text;
}

json json_of(const play::kernel_report& k) {
  json arrays = json::array();
  for (const auto& t : k.arrays)
    arrays.push_back({{"array", t.array},
                      {"shared", t.shared},
                      {"access", t.stores ? "store" : "load"},
                      {"element_bytes", t.element_bytes},
                      {"instructions", t.instructions},
                      {"lanes", t.lanes},
                      {"idle_lanes", t.instructions * k.wave - t.lanes},
                      {"bytes", t.bytes},
                      {"lines", t.lines},
                      {"bank_conflicts", t.conflicts}});
  return {{"kernel", k.kernel},     {"blocks", k.blocks}, {"threads", k.threads}, {"barriers", k.barriers},
          {"shuffles", k.shuffles}, {"arrays", arrays},   {"faults", k.faults}};
}

std::string text_of(const std::vector<played_result>& results) {
  std::string text;
  for (const auto& r : results) {
    text += fmt::format("\n  {}  row error {:.3f}\n", bold(fmt::format("{} {}", r.format, r.kernel)), r.row_error);
    for (const auto& k : r.kernels) text += table_of(k);
  }
  return text;
}

json json_of(const std::vector<played_result>& results) {
  json all = json::array();
  for (const auto& r : results) {
    json kernels = json::array();
    for (const auto& k : r.kernels) kernels.push_back(json_of(k));
    all.push_back(
        {{"format", r.format}, {"kernel", r.kernel}, {"max_row_error", number(r.row_error)}, {"kernels", kernels}});
  }
  return all;
}

void draw_trace(const std::string& trace, const std::string& what, const std::vector<played_result>& results) {
  if (trace.empty()) return;
  const auto& first = results.front();
  write_file(trace,
             picture::lanes(first.kernels.front(), fmt::format("{}: {} of {}", what, first.kernel, first.format)));
}

void check_results(const std::vector<played_result>& results) {
  for (const auto& r : results) {
    for (const auto& k : r.kernels)
      if (!k.faults.empty()) throw error(fault::internal, k.faults.front());
    check(r.row_error <= 1, fault::internal,
          "{} ({}): a row is {:.3g} times the rounding bound away from the reference", r.format, r.kernel, r.row_error);
  }
}

} // namespace furrow::cli
