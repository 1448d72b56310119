// SPDX-License-Identifier: BSD-3-Clause
#include "sections.hpp"
#include "words.hpp"

#include "core/counted.hpp"
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

std::string condition_text(double n) { return std::isfinite(n) ? fmt::format("{:.2g}", n) : "beyond all numbers"; }
std::string_view precision_of(const solve_options& o) { return o.values == precision::f32 ? "f32" : "f64"; }

struct part {
  std::string name;
  double seconds;
};

/// The parts of a set-up in words, by the names that `setup_part` has.
std::string words_for(const std::string& part) {
  constexpr std::pair<std::string_view, const char*> all[] = {
      {"check", "checking the triplets"},
      {"upload", "sending the matrix to the GPU"},
      {"apart", "taking the rows of each rank apart"},
      {"look", "looking at the matrix"},
      {"choose", "choosing the format"},
      {"tune", "measuring formats"},
      {"symmetry", "comparing it with its transpose"},
      {"precond", "the preconditioner"},
      {"convert", "converting it to the format"},
      {"pack", "putting systems side by side"},
  };
  const auto* const found = std::ranges::find(all, part, [](const auto& one) { return one.first; });
  return found == std::end(all) ? part : found->second;
}

/// Of reading, set-up and solving together.
double total_of(const subject& s) { return s.context.read_seconds + s.r.setup_seconds + s.r.solve_seconds; }

/// The parts of what precedes the rungs; those below half a percent of everything go into the rest, or unsaid.
void add_setup(std::vector<part>& parts, const subject& s) {
  double before = s.r.setup_seconds;
  for (const solve_rung& one : s.r.rungs) before -= one.setup_seconds;
  const double least = 0.005 * total_of(s);
  double rest = before;
  for (const setup_part& one : s.r.setup_parts) {
    if (one.seconds < least || (!s.r.rungs.empty() && one.what == "precond")) continue; // the rung has it
    parts.push_back({"set-up: " + words_for(one.what), one.seconds});
    rest -= one.seconds;
  }
  if (rest >= least) parts.push_back({rest < before ? "set-up: the rest" : "set-up", rest});
}

/// Reading, the parts of the set-up, and each rung; without rungs the solve.
std::vector<part> parts_of(const subject& s) {
  std::vector<part> parts;
  if (s.context.read_seconds > 0) parts.push_back({"reading", s.context.read_seconds});
  add_setup(parts, s);
  if (s.r.rungs.empty()) parts.push_back({"solve", s.r.solve_seconds});
  for (const solve_rung& one : s.r.rungs) {
    parts.push_back({fmt::format("{}: set-up", method(one.solver, one.precond)), one.setup_seconds});
    parts.push_back({fmt::format("{}: solve", method(one.solver, one.precond)), one.solve_seconds});
  }
  return parts;
}

/// A row of a table: a name, a number, and a bar of a share of the longest one with its words.
void add_row(html& page, const std::string& name, const std::string& number, double share, const std::string& words,
             bool strong = false) {
  page.open("tr", strong ? "class=\"taken\"" : "").element("th", name, "scope=\"row\"").element("td", number);
  page.open("td").open("span", fmt::format("class=\"bar\" style=\"width:{:.1f}%\"", 60 * share)).close();
  page.text(words).close().close();
}

void add_head(html& page, const char* caption, const char* part, const char* number, const char* words) {
  page.open("table").element("caption", caption);
  page.open("thead").open("tr").element("th", part, "scope=\"col\"").element("th", number, "scope=\"col\"");
  page.element("th", words, "scope=\"col\"").close().close().open("tbody");
}

/// What the models expect of the format that was taken, and of the next three: each by its fastest kernel.
void add_candidates(html& page, const subject& s) {
  constexpr std::ptrdiff_t most = 4;
  const auto& expected = s.context.matrix.expected;
  if (expected.empty()) return;
  const auto taken = std::ranges::find(expected, s.r.format, &expected_product::format);
  const auto end = expected.begin() + std::min<std::ptrdiff_t>(std::ssize(expected), most);
  std::vector<expected_product> shown(expected.begin(), end);
  if (taken != expected.end() && taken >= end) shown.back() = *taken;
  double longest = 0;
  for (const expected_product& p : shown) longest = std::max(longest, p.seconds);
  add_head(page, "What the models expect of a product, in each format by its fastest kernel", "format", "time",
           "beside the fastest");
  for (const expected_product& p : shown) {
    const bool is_taken = taken != expected.end() && p.format == taken->format;
    add_row(page, fmt::format("{} ({}){}", p.format, p.kernel, is_taken ? ", taken" : ""), seconds_text(p.seconds),
            longest > 0 ? p.seconds / longest : 0,
            shown.front().seconds > 0 ? fmt::format("{:.2f} ×", p.seconds / shown.front().seconds) : "", is_taken);
  }
  page.close().close();
}

void add_times(html& page, const subject& s) {
  const double total = total_of(s);
  add_head(page, "Time in its parts", "part", "time", "share");
  for (const part& p : parts_of(s)) {
    const double share = total > 0 ? p.seconds / total : 0;
    add_row(page, p.name, seconds_text(p.seconds), share, fmt::format("{:.0f} %", 100 * share));
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
    add_row(page, what, bytes_text(bytes), bytes / all, at_best(bytes));
  };
  add_head(page, "What an iteration moves, and the least time that takes", "part", "bytes", "at best");
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
    say(facts, "residual",
        fmt::format("{:.3e}, |b - A x| / |b|{}, recomputed from x", r.relative_residual,
                    s.options.values == precision::f32 ? " of A and b in f32" : ""));
  if (std::isfinite(r.normal_residual))
    say(facts, "normal residual", fmt::format("{:.3e}, |A'(b - A x)| / (|A| |b - A x|)", r.normal_residual));
  if (s.context.goal > 0) say(facts, "goal", figure(s.context.goal));
  if (s.context.error && has_residual(r))
    say(facts, "error", fmt::format("{}, the largest one of x", figure(*s.context.error)));
  if (r.error_estimate > 0)
    say(facts, "error of x, estimated",
        fmt::format("{}, |x - A⁻¹b| / |x|",
                    std::isfinite(r.error_estimate) ? fmt::format("{:.1e}", r.error_estimate) : "beyond all numbers"));
  if (r.condition_estimate > 0) say(facts, "condition, estimated", condition_text(r.condition_estimate));
  if (const std::string by = estimated_by(r, s.context.matrix.shape); !by.empty()) say(facts, "estimated by", by);
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
        fmt::format("{}, {}", counted_text(index_t(r.factor_entries), "entry"), bytes_text(r.factor_bytes)));
  say(facts, "format", r.format.empty() ? "" : fmt::format("{} ({})", r.format, r.kernel));
  say(facts, "why this format", r.reason);
  say(facts, "right-hand side", s.context.rhs);
  say(facts, "first guess", s.context.x0);
  page.terms(facts);
  add_candidates(page, s);
  page.close();
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
  add_times(page, s);
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
