// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "nearest.hpp"
#include "operands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "played_text.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "formats/dense/play.hpp"
#include "formats/played.hpp"

#include <fmt/format.h>

namespace furrow::cli {
namespace {

/// The tutorial's kernels serve the tutorial's case, and what is played has no speed.
std::vector<std::string_view> kernels_of(const gemv_request& q) {
  const auto all = play::find_played("dense", "auto").format->kernels;
  std::vector<std::string> names{"auto", "all"};
  names.insert(names.end(), all.begin(), all.end());
  check_name("classic kernel", name_before_colon(q.kernel), names);
  check_measuring_of_play(q.repeat, q.ceiling, q.check);
  check((q.layout == "row") == (q.op == "n"), fault::usage,
        "--device play: the kernels of the tutorial sum up along lines that are contiguous: --op {} takes --layout {}",
        q.op, q.op == "n" ? "row" : "col");
  check(q.vectors == 1, fault::usage, "--device play: the kernels of the tutorial take one vector, not {}", q.vectors);
  check(q.type == "f64" || q.type == "f32", fault::usage, "--device play: a kernel is played in f64 or f32, not in {}",
        q.type);
  constexpr index_t most = 20'000'000; // elements: a minute or two
  check(q.shape.rows <= most / q.shape.cols, fault::usage,
        "{}: a kernel is played for up to {} elements: play a smaller matrix", q.shape_text, count_text(most));
  if (q.kernel == "all") return {all.begin(), all.end()};
  return {play::find_played("dense", q.kernel).kernel};
}

template <class V> int play_all(const gemv_request& q, const play::settings& how) {
  const gemv_operands<V> operands(q);
  std::vector<played_result> results;
  for (const auto kernel : kernels_of(q)) {
    host_array<V> y(operands.outputs, std::numeric_limits<V>::quiet_NaN()); // what a kernel forgets to write shows
    played_result r{"dense", std::string(kernel), 0, {}};
    r.kernels.push_back(
        dense_format::play_gemv<V>(as_cview(operands.a), kernel, V(1), as_cview(operands.x), V(0), as_view(y), how));
    r.row_error = operands.row_error(as_cview(y));
    results.push_back(std::move(r));
  }
  draw_trace(q.trace, q.shape_text, results);
  if (q.json) {
    json j{{"rows", q.shape.rows}, {"cols", q.shape.cols}, {"device", "play"},
           {"op", q.op},           {"layout", q.layout},   {"type", q.type}};
    add_settings(j, how);
    j["bytes"] = operands.bytes();
    j["results"] = json_of(results);
    print(json_text(j));
  } else {
    std::string text = headline(q, operands.bytes());
    text += fmt::format("played on the CPU, {}, {}\n", q.type, order_text(how)) + text_of(results);
    if (!q.trace.empty()) text += "\n" + line("picture", place_text(q.trace));
    print_beside({q.trace}, text);
  }
  check_results(results);
  return done;
}

} // namespace

int run_played(gemv_request& q) {
  const play::settings how = parse_play(q.play, q.trace);
  kernels_of(q);
  check_threads_of_play(q.thread_count);
  use_device("cpu", 0);
  return q.type == "f32" ? play_all<float>(q, how) : play_all<double>(q, how);
}

} // namespace furrow::cli
