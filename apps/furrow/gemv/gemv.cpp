// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "gemv_request.hpp"
#include "lies_in.hpp"
#include "memory.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "played_text.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace furrow::cli {

std::string headline(const gemv_request& q, double bytes) {
  return fmt::format("{}  y = {} x, {}, {}-major, {} vector{}: {}\n", bold(q.shape_text), q.op == "t" ? "A'" : "A",
                     q.type, q.layout == "row" ? "row" : "column", q.vectors, q.vectors == 1 ? "" : "s",
                     bytes_text(bytes));
}

std::string text_of(const gemv_request& q, const gemv_outcome& o) {
  std::string text = headline(q, o.bytes);
  const std::string where =
      q.where.is_gpu() ? describe(q.where) : fmt::format("cpu, {} thread{}", threads(), threads() == 1 ? "" : "s");
  text += fmt::format("{}{}; A, x and y lie in {}\n\n", where, ceiling_text(1e9 * o.ceiling_gbps),
                      lies_in(q.where, o.bytes));
  text += dim(fmt::format("  {:<10} {:>10} {:>9} {:>11}{}", "kernel", "time", "GB/s", "of ceiling",
                          q.check ? "   row error" : "")) +
          "\n";
  const auto best = std::ranges::min_element(o.results, {}, &gemv_result::seconds);
  for (auto r = o.results.begin(); r != o.results.end(); ++r) {
    const std::string row = fmt::format("{} {:<10} {:>10} {:>9.1f} {:>11}{}", r == best ? "*" : " ", r->kernel,
                                        seconds_text(r->seconds), r->gbps, share_text(r->gbps / o.ceiling_gbps),
                                        r->row_error ? fmt::format("   {:>9.3f}", *r->row_error) : "");
    text += (r == best ? bold(row) : row) + "\n";
  }
  return text;
}

std::string json_of(const gemv_request& q, const gemv_outcome& o) {
  json j;
  j["rows"] = q.shape.rows;
  j["cols"] = q.shape.cols;
  j["vectors"] = q.vectors;
  j["device"] = describe(q.where);
  j["threads"] = threads();
  j["bytes"] = o.bytes;
  j["lies_in"] = lies_in(q.where, o.bytes);
  j["ceiling_gbps"] = number(o.ceiling_gbps);
  j["results"] = json::array();
  for (const auto& r : o.results) {
    json one{{"kernel", r.kernel},
             {"op", q.op},
             {"layout", q.layout},
             {"type", q.type},
             {"seconds", r.seconds},
             {"gbps", number(r.gbps)},
             {"fraction", number(r.gbps / o.ceiling_gbps)}};
    if (r.row_error) one["max_row_error"] = number(*r.row_error);
    j["results"].push_back(std::move(one));
  }
  return json_text(j);
}

shape2 parse_shape(const std::string& text) {
  shape2 s;
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto first = std::from_chars(begin, end, s.rows);
  const bool middle = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = std::from_chars(middle ? first.ptr + 1 : end, end, s.cols);
  check(middle && second.ec == std::errc{} && second.ptr == end && s.rows >= 1 && s.cols >= 1, fault::usage,
        "'{}' is no shape: give ROWSxCOLUMNS, such as 4096x4096", text);
  return s;
}

namespace gemv_command {
namespace {

/// A, x and y on the host, and once more on a GPU.
memory_plan plan_of(const gemv_request& q) {
  const double size = q.type == "f64" ? 8 : q.type == "f32" ? 4 : 2, value = q.type == "f64" ? 8 : 4;
  const double rows = double(q.shape.rows), cols = double(q.shape.cols);
  memory_plan plan;
  plan.work = size * rows * cols + 3 * value * q.vectors * (rows + cols);
  check(plan.work < 1e18, fault::memory, "{} is more than any memory holds", q.shape_text);
  if (q.where.is_gpu()) plan.gpu = plan.work;
  return plan;
}

int run(gemv_request& q) {
  q.shape = parse_shape(q.shape_text);
  check_name("operation", q.op, {"n", "t"});
  check_name("layout", q.layout, {"row", "col"});
  check_name("type", q.type, {"f64", "f32", "f16", "bf16"});
  check_one_standard_output(q.json, {q.trace});
  check_output(q.trace, "--trace");
  check_ending(q.trace, "--trace", "a picture", {".svg"});
  if (q.where_text == "play") return run_played(q);
  check_not_played(q.play, q.trace);
  q.where = use_device(q.where_text, q.thread_count, {"play"});
  const bool of_gpus = std::ranges::find(gemv_kernels({device::kind::gpu}), kernel_name(q.kernel),
                                         &gemv_kernel::name) != gemv_kernels({device::kind::gpu}).end();
  std::vector<std::string> kernels{"auto", "all"};
  for (const auto& k : gemv_kernels(q.where)) kernels.emplace_back(k.name);
  const std::string name(name_before_colon(q.kernel));
  check(!of_gpus || std::ranges::find(kernels, name) != kernels.end(), fault::usage,
        "--kernel {}: runs on a GPU alone, and this runs on the CPU: give {}", q.kernel,
        where_kernels_of_gpus_run(name == "naive" || name == "tiled"));
  check_name("kernel", name, kernels);
  announce(plan_of(q), q.where);
  const gemv_outcome o = measure_gemv(q);
  print(q.json ? json_of(q, o) : text_of(q, o));
  for (const auto& r : o.results)
    if (r.row_error && !(*r.row_error <= 1))
      throw error(fault::internal,
                  fmt::format("{}: an element is {:.3g} times the rounding bound away from the reference", r.kernel,
                              *r.row_error));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto q = std::make_shared<gemv_request>();
  const auto add = [&](const char* name, std::string& to, const char* about, std::vector<std::string> words) {
    shared.words[app.add_option(name, to, about)->type_name("NAME")] = std::move(words);
  };
  app.add_option("SHAPE", q->shape_text, "rows and columns of A, such as 4096x4096")->required()->type_name("");
  add("--op", q->op, "n: y = A x, t: y = A' x (default n)", {"n", "t"});
  add("--layout", q->layout, "row or col: which of them are contiguous (default row)", {"row", "col"});
  add("--type", q->type, "f64, f32, f16 or bf16; the last two are summed up in f32 (default f64)",
      {"f64", "f32", "f16", "bf16"});
  add("--kernel", q->kernel,
      "auto, all or a kernel: along, across; played, naive, tiled; on a GPU those four and the ways that `auto` "
      "chooses from (default auto)",
      {"auto", "all", "along", "across", "naive", "tiled"});
  app.add_option("--rhs", q->vectors, "vectors in one pass over A, up to 8 (default 1)")
      ->type_name("N")
      ->transform(whole(1, 8));
  add_repeat(app, q->repeat, "timed products (default: about half a second of them)");
  app.add_flag("--check", q->check, "compare every element with a reference in long double");
  app.add_flag("!--no-ceiling", q->ceiling, "do not measure how fast as much is read at best");
  add_json(app, q->json);
  add_device(app, shared, q->where_text);
  add_threads(app, q->thread_count);
  add_played(app, shared, q->play, q->trace);
  app.footer(
      "The median of the timed products counts; 'of ceiling' compares with the fastest read of as many bytes, out of\n"
      "the caches where they fit there, measured in the same run. The row error is in units of the rounding bound\n"
      "(terms + 2) u sum|a_ij x_j|: at most 1 passes.\n\n"
      "Examples:\n"
      "  furrow gemv 4096x4096 --type f32 --kernel all --check\n"
      "  furrow gemv 64x4000000 --op t --layout col --type bf16 --device gpu\n"
      "  furrow gemv 300x200 --device play --kernel all");
  return [q] { return run(*q); };
}

} // namespace

extern const subcommand entry{
    "gemv", "Time a dense product y = A x of any shape against the fastest read of as many bytes.", setup};

} // namespace gemv_command
} // namespace furrow::cli
