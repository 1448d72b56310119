// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "exit_code.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "series_file.hpp"
#include "text.hpp"

#include "chebyshev/between.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"

#include <furrow/chebyshev/fit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace furrow::cli::cheb_command {
namespace {

struct fit_request {
  std::string expression, on = "-1,1", output;
  double tolerance = 0x1p-52;
  bool json = false;
};

int run_fit(const fit_request& q) {
  check_one_standard_output(q.json, {q.output});
  check_output(q.output, "-o");
  check_ending(q.output, "-o", "a series", {".txt", ".csv"});
  const auto f = parse_expression(q.expression);
  const auto on = parse_interval(q.on);
  const auto began = std::chrono::steady_clock::now();
  const chebyshev::series p = chebyshev::fit(f, on, {q.tolerance});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double between = chebyshev::error_between(f, p);
  if (!q.output.empty()) write_text(series_text(as_cview(p.coefficients), on), q.output);
  if (q.json) {
    json j;
    j["expression"] = q.expression;
    j["interval"] = {on.low, on.high};
    j["tolerance"] = q.tolerance;
    j["error_between"] = between;
    j["length"] = p.length();
    j["coefficients"] = std::vector<double>(p.coefficients.begin(), p.coefficients.end());
    j["seconds"] = seconds;
    print(json_text(j));
    return done;
  }
  std::string text = fmt::format("{}  on [{}, {}]\n", printable(q.expression), on.low, on.high);
  text += line("length", fmt::format("{}, degree {}", counted_text(p.length(), "coefficient"), p.length() - 1));
  text += line("tolerance", fmt::format("{:.3g}", q.tolerance));
  if (const std::string off = chebyshev::told_between(between, p, q.tolerance); !off.empty())
    text += line("off by", off);
  text += line("time", seconds_text(seconds));
  if (!q.output.empty()) text += line("series", place_text(q.output));
  else
    for (index_t k = 0; k < std::min<index_t>(p.length(), 8); ++k)
      text += line(fmt::format("a_{}", k), fmt::format("{:.16e}", p.coefficients[k]));
  print_beside({q.output}, text);
  return done;
}

} // namespace

std::function<int()> add_fit(CLI::App& app, context& shared) {
  auto q = std::make_shared<fit_request>();
  app.add_option("EXPRESSION", q->expression,
                 "a function of x: + - * / ^, brackets, sin cos exp log sqrt abs erf gamma max ..., pi, e")
      ->required()
      ->type_name("");
  add_interval(app, q->on);
  app.add_option("--tolerance", q->tolerance, "relative to the largest coefficient (default 2^-52)")
      ->type_name("R")
      ->transform(from_to_below(0x1p-52, 1));
  shared.words[app.add_option("-o,--output", q->output, "write interval and coefficients, one a line")
                   ->type_name("FILE")] = {"<file>"};
  add_json(app, q->json);
  app.footer("Without -o the first coefficients are shown.\n\n"
             "Examples:\n"
             "  furrow cheb fit 'exp(sin(5*x))' -o f.txt\n"
             "  furrow cheb fit 'sqrt(x)' --on 0.01,1 --tolerance 1e-8 --json");
  return [q] { return run_fit(*q); };
}

} // namespace furrow::cli::cheb_command
