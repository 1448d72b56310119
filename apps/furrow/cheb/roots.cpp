// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"
#include "series_file.hpp"
#include "text.hpp"

#include "chebyshev/between.hpp"
#include "io/ending.hpp"

#include <furrow/chebyshev/fit.hpp>
#include <furrow/chebyshev/roots.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace furrow::cli::cheb_command {
namespace {

struct roots_request {
  std::string what, on;
  bool json = false;
};

/// Whose roots, and how far it is from the function that it stands for; 0 where a file has it.
struct request_series {
  chebyshev::series p;
  double error = 0;
};

/// A file where there is one of that name or the name is one, and standard input by its sign; otherwise an expression.
request_series series_of(const std::string& what, const std::string& on) {
  std::error_code ignored;
  if (what == "-" || std::filesystem::exists(what, ignored) || io::has_ending(what, ".txt"))
    return {read_series(what, on)};
  const auto f = parse_expression(what);
  chebyshev::series p = chebyshev::fit(f, on.empty() ? chebyshev::interval{} : parse_interval(on));
  const double error = chebyshev::error_between(f, p);
  return {std::move(p), error};
}

int run_roots(const roots_request& q) {
  const auto [p, error] = series_of(q.what, q.on);
  const host_array<double> found = chebyshev::roots(p);
  if (q.json) {
    json j;
    j["interval"] = {p.on.low, p.on.high};
    j["length"] = p.length();
    j["error_between"] = error;
    j["roots"] = std::vector<double>(found.begin(), found.end());
    print(json_text(j));
    return done;
  }
  std::string text;
  for (const double x : found) text += fmt::format("{}\n", x);
  print(text);
  remark(fmt::format("{} root{} in [{}, {}], of a series of {} coefficient{}", found.size(),
                     found.size() == 1 ? "" : "s", p.on.low, p.on.high, p.length(), p.length() == 1 ? "" : "s"));
  if (const std::string off = chebyshev::told_between(error, p, 0x1p-52); !off.empty())
    remark("roots may be missing: the series is off by " + off);
  return done;
}

} // namespace

std::function<int()> add_roots(CLI::App& app, context& shared) {
  auto q = std::make_shared<roots_request>();
  shared
      .words[app.add_option("WHAT", q->what, "a file of coefficients, or a function of x")->required()->type_name("")] =
      {"<file>"};
  add_interval_of_file(app, q->on);
  add_json(app, q->json);
  app.footer("Examples:\n"
             "  furrow cheb roots 'cos(20*x)' --on 0,1\n"
             "  furrow cheb roots f.txt --json");
  return [q] { return run_roots(*q); };
}

} // namespace furrow::cli::cheb_command
