// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "options.hpp"
#include "output.hpp"
#include "series_file.hpp"
#include "text.hpp"

#include "core/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::cli::cheb_command {
namespace {

struct eval_request {
  std::string file, at, points, on;
  bool json = false;
};

host_array<double> points_of(const eval_request& q) {
  check(q.at.empty() != q.points.empty(), fault::usage,
        "say where: either --at X,... or --points FILE; see 'furrow cheb eval -h'");
  if (!q.points.empty()) {
    auto x = read_vector(q.points);
    const auto wrong = std::ranges::find_if(x, [](double at) { return !std::isfinite(at); });
    check(wrong == x.end(), fault::input, "{}: point {} is {}: only finite points have values", q.points,
          wrong - x.begin() + 1, wrong == x.end() ? 0 : *wrong);
    return x;
  }
  const auto numbers = parse_numbers(q.at, "--at");
  host_array<double> x(static_cast<index_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), x.begin());
  return x;
}

void warn_of_points_outside(chebyshev::interval on, const host_array<double>& x) {
  const auto outside = std::find_if(x.begin(), x.end(), [&](double at) { return !on.contains(at); });
  if (outside == x.end()) return;
  const auto count = std::count_if(outside, x.end(), [&](double at) { return !on.contains(at); });
  remark(fmt::format("{} of {} points lie outside of [{}, {}], the first at {}: there a series follows no function",
                     count, x.size(), on.low, on.high, *outside));
}

/// Outside of its interval a series grows without bound.
void warn_of_values_beyond(const host_array<double>& x, const host_array<double>& y) {
  const auto beyond = [](double v) { return !std::isfinite(v); };
  const auto first = std::ranges::find_if(y, beyond);
  if (first == y.end()) return;
  remark(fmt::format("{} of {} values lie beyond the range of f64, the first at {}", std::ranges::count_if(y, beyond),
                     y.size(), x[first - y.begin()]));
}

int run_eval(const eval_request& q) {
  check_one_standard_input({q.file, q.points});
  check_input(q.points, "--points");
  const host_array<double> x = points_of(q);
  const chebyshev::series p = read_series(q.file, q.on);
  host_array<double> y(x.size());
  evaluate(p, as_cview(x), as_view(y));
  warn_of_points_outside(p.on, x);
  warn_of_values_beyond(x, y);
  if (!q.json) {
    std::string text;
    for (index_t i = 0; i < x.size(); ++i) text += fmt::format("{} {}\n", x[i], y[i]);
    print(text);
    return done;
  }
  json j;
  j["interval"] = {p.on.low, p.on.high};
  j["length"] = p.length();
  j["points"] = json::array();
  j["values"] = json::array();
  for (index_t i = 0; i < x.size(); ++i) {
    j["points"].push_back(number(x[i]));
    j["values"].push_back(number(y[i]));
  }
  print(json_text(j));
  return done;
}

} // namespace

std::function<int()> add_eval(CLI::App& app, context& shared) {
  auto q = std::make_shared<eval_request>();
  const auto file = [&](CLI::Option* option) { shared.words[option] = {"<file>"}; };
  file(app.add_option("SERIES", q->file, "a file of coefficients, one a line")->required()->type_name(""));
  app.add_option("--at", q->at, "the points")->type_name("X,...");
  file(app.add_option("--points", q->points, "a file of points, one a line")->type_name("FILE"));
  add_interval_of_file(app, q->on);
  add_json(app, q->json);
  app.footer("Examples:\n"
             "  furrow cheb eval f.txt --at 0,0.5\n"
             "  furrow cheb eval f.txt --points x.txt --on 0,1");
  return [q] { return run_eval(*q); };
}

} // namespace furrow::cli::cheb_command
