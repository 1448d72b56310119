// SPDX-License-Identifier: BSD-3-Clause
#include "sections.hpp"
#include "words.hpp"

#include "core/environment.hpp"
#include "core/units.hpp"

#include <furrow/device.hpp>
#include <furrow/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace furrow::report {
namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

/// Adds a pair where there is something to say.
void say(pairs& to, const char* term, const std::string& what) {
  if (!what.empty()) to.emplace_back(term, what);
}

std::string_view precision_of(const solve_options& o) { return o.values == precision::f32 ? "f32" : "f64"; }

struct part {
  std::string name;
  double seconds;
};

/// Reading, what precedes the rungs, and each rung; without rungs set-up and solve.
std::vector<part> parts_of(const subject& s) {
  std::vector<part> parts;
  if (s.context.read_seconds > 0) parts.push_back({"reading", s.context.read_seconds});
  double setup = s.r.setup_seconds;
  for (const solve_rung& one : s.r.rungs) setup -= one.setup_seconds;
  if (s.r.rungs.empty()) {
    parts.push_back({"set-up", s.r.setup_seconds});
    parts.push_back({"solve", s.r.solve_seconds});
    return parts;
  }
  if (setup > 0) parts.push_back({"looking at the matrix", setup});
  for (const solve_rung& one : s.r.rungs) {
    parts.push_back({fmt::format("{}: set-up", method(one.solver, one.precond)), one.setup_seconds});
    parts.push_back({fmt::format("{}: solve", method(one.solver, one.precond)), one.solve_seconds});
  }
  return parts;
}

void add_times(html& page, const std::vector<part>& parts) {
  double total = 0;
  for (const part& p : parts) total += p.seconds;
  page.open("table");
  page.element("caption", "Time in its parts");
  page.open("thead").open("tr").element("th", "part", "scope=\"col\"").element("th", "time", "scope=\"col\"");
  page.element("th", "share", "scope=\"col\"").close().close().open("tbody");
  for (const part& p : parts) {
    const double share = total > 0 ? 100 * p.seconds / total : 0;
    page.open("tr").element("th", p.name, "scope=\"row\"").element("td", seconds_text(p.seconds));
    page.open("td").open("span", fmt::format("class=\"bar\" style=\"width:{:.1f}%\"", 0.6 * share)).close();
    page.text(fmt::format("{:.0f} %", share)).close().close();
  }
  page.close().open("tfoot").open("tr").element("th", "together", "scope=\"row\"");
  page.element("td", seconds_text(total)).element("td", "").close().close().close();
}

/// What an iteration moves, and how long that takes at best: the two sides of a roofline.
void add_roofline(html& page, const subject& s) {
  const solve_report& r = s.r;
  const double all = r.bytes_per_iteration, ceiling = s.context.ceiling, rate = bytes_a_second(r);
  if (r.iterations == 0 || !(all > 0)) return;
  const auto at_best = [&](double bytes) { return ceiling > 0 ? seconds_text(bytes / ceiling) : "not measured"; };
  const auto row = [&](const char* what, double bytes) {
    page.open("tr").element("th", what, "scope=\"row\"").element("td", bytes_text(bytes));
    page.open("td").open("span", fmt::format("class=\"bar\" style=\"width:{:.1f}%\"", 60 * bytes / all)).close();
    page.text(at_best(bytes)).close().close();
  };
  page.open("table").element("caption", "What an iteration moves, and the least time that takes");
  page.open("thead").open("tr").element("th", "part", "scope=\"col\"").element("th", "bytes", "scope=\"col\"");
  page.element("th", "at best", "scope=\"col\"").close().close().open("tbody");
  if (r.product_bytes > 0) {
    row("product with the matrix", r.product_bytes);
    row("everything else: vectors, preconditioner", all - r.product_bytes);
  }
  row("an iteration", all);
  page.close().close();
  if (rate > 0 && ceiling > 0)
    page.element("p",
                 fmt::format("An iteration took {}: {}/s, {:.0f} % of the {}/s that the machine reads at best.",
                             seconds_text(all / rate), bytes_text(rate), 100 * rate / ceiling, bytes_text(ceiling)));
  else if (rate > 0)
    page.element("p", fmt::format("An iteration took {}: {}/s.", seconds_text(all / rate), bytes_text(rate)));
}

void add_rung(html& page, const solve_rung& one) {
  page.open("li").element("strong", method(one.solver, one.precond));
  page.text(fmt::format(", {}: {}.", describe(one.where), one.reason));
  page.raw("<br>").element("span", sentence(one.outcome),
                           one.why == status::converged || one.why == status::least_squares ? "class=\"good\""
                                                                                            : "class=\"bad\"");
  page.text(fmt::format(" Set-up {}, solve {}", seconds_text(one.setup_seconds), seconds_text(one.solve_seconds)));
  if (one.iterations > 0)
    page.text(fmt::format(", {} iteration{}, residual {}", count_text(one.iterations), one.iterations == 1 ? "" : "s",
                          figure(one.relative_residual)));
  page.text(".").close();
}

} // namespace

std::string inlined(const std::string& svg) {
  constexpr std::string_view outer = "<svg xmlns=\"http://www.w3.org/2000/svg\"";
  return "<svg role=\"img\"" + svg.substr(std::min(outer.size(), svg.size()));
}

void add_verdict(html& page, const subject& s) {
  const solve_report& r = s.r;
  const bool answered = is_answer(r);
  page.open("header");
  page.element("h1", verdict(r.why), answered ? "class=\"good\"" : "class=\"bad\"");
  page.element("p", sentence(r.message), "class=\"lead\"");
  if (!answered) page.open("p").element("strong", "What to do next: ").text(advice(r.why)).close();
  if (!r.warning.empty())
    page.open("p", "class=\"warning\"").element("strong", "Warning: ").text(sentence(r.warning)).close();
  pairs facts;
  say(facts, "matrix", s.context.name);
  if (has_residual(r))
    say(facts, "residual", fmt::format("{:.3e}, |b - A x| / |b|, recomputed from x", r.relative_residual));
  if (std::isfinite(r.normal_residual))
    say(facts, "normal residual", fmt::format("{:.3e}, |A'(b - A x)| / (|A| |b - A x|)", r.normal_residual));
  if (s.context.goal > 0) say(facts, "goal", figure(s.context.goal));
  if (s.context.error && has_residual(r))
    say(facts, "error", fmt::format("{}, the largest one of x", figure(*s.context.error)));
  if (r.error_estimate > 0)
    say(facts, "error of x, estimated", fmt::format("{:.1e}, |x - A⁻¹b| / |x|", r.error_estimate));
  if (r.condition_estimate > 0) say(facts, "condition, estimated", fmt::format("{:.1e}", r.condition_estimate));
  if (r.largest_ritz > 0)
    say(facts, "Ritz values",
        fmt::format("from {} to {}, of A with its preconditioner", figure(r.smallest_ritz), figure(r.largest_ritz)));
  say(facts, "solver", fmt::format("{}, {}", method(r.solver, r.precond), precision_of(s.options)));
  page.terms(facts).close();
}

void add_choice(html& page, const subject& s) {
  const solve_report& r = s.r;
  page.open("section").element("h2", "What was chosen, and why");
  if (r.rungs.empty()) {
    page.element("p", "The method was named by the caller.");
  } else {
    page.open("ol");
    for (const solve_rung& one : r.rungs) add_rung(page, one);
    page.close();
  }
  pairs facts;
  say(facts, "the matrix is", r.matrix_about);
  if (!r.untried.empty()) say(facts, "not tried", fmt::format("{}", fmt::join(r.untried, ", ")));
  say(facts, "preconditioner", r.precond_about);
  say(facts, "arranged", r.arranged_about);
  if (r.factor_entries > 0)
    say(facts, "factors",
        fmt::format("{} entries, {}", count_text(index_t(r.factor_entries)), bytes_text(r.factor_bytes)));
  say(facts, "format", r.format.empty() ? "" : fmt::format("{} ({})", r.format, r.kernel));
  say(facts, "why this format", r.reason);
  say(facts, "right-hand side", s.context.rhs);
  say(facts, "first guess", s.context.x0);
  page.terms(facts).close();
}

void add_matrix(html& page, const subject& s) {
  const matrix_sketch& m = s.context.matrix;
  page.open("section").element("h2", "The matrix");
  page.open("div", "class=\"pair\"").open("div");
  pairs facts;
  say(facts, "name", s.context.name);
  say(facts, "from", s.context.origin);
  facts.insert(facts.end(), m.facts.begin(), m.facts.end());
  page.terms(facts);
  const auto draw = [&](const std::string& picture) {
    if (!picture.empty()) page.open("figure").raw(inlined(picture)).close();
  };
  draw(m.row_lengths);
  page.close();
  draw(m.picture);
  page.close().close();
}

void add_speed(html& page, const subject& s) {
  const solve_report& r = s.r;
  page.open("section").element("h2", "Time and traffic");
  add_times(page, parts_of(s));
  add_roofline(page, s);
  pairs facts;
  if (r.stored_bytes > 0) say(facts, "matrix, preconditioner and vectors", bytes_text(r.stored_bytes));
  if (r.waits > 0) say(facts, "waits for the device", count_text(r.waits));
  page.terms(facts).close();
}

void add_environment(html& page, const subject& s) {
  page.open("section").element("h2", "Machine and command");
  pairs facts{
      {"Furrow", version}, {"device", describe(s.options.where)}, {"CPU threads", fmt::format("{}", threads())}};
  facts.insert(facts.end(), s.context.machine.begin(), s.context.machine.end());
  for (const char* const name :
       {"FURROW_FORMAT", "FURROW_KERNEL", "FURROW_ISA", "FURROW_GRAPHS", "CUDA_VISIBLE_DEVICES"})
    if (const auto value = environment(name); !value.empty()) facts.emplace_back(name, value); // they change answers
  page.terms(facts);
  if (!s.context.command.empty()) {
    page.element("p", "To run it again:");
    page.open("pre").element("code", s.context.command).close();
  }
  page.close();
}

} // namespace furrow::report
