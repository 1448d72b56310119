// SPDX-License-Identifier: BSD-3-Clause
#include "sections.hpp"
#include "words.hpp"

#include "core/units.hpp"
#include "picture/chart.hpp"
#include "picture/thinned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::report {
namespace {

constexpr std::size_t stretches = 300; ///< of a curve
constexpr std::size_t hints = 60;      ///< places of a curve that say their numbers
constexpr double plot_width = 380;

/// The curve over iterations, or over seconds.
std::vector<picture::point> curve(const solve_report& r, bool by_second) {
  const auto kept = picture::thinned(r.history, stretches);
  const std::size_t every = std::max<std::size_t>(1, kept.size() / hints);
  std::vector<picture::point> points;
  for (std::size_t n = 0; n < kept.size(); ++n) {
    const std::size_t k = kept[n];
    const double at = by_second ? r.history_seconds[k] : double(k);
    points.push_back({at, r.history[k], {}});
    if (n % every != 0 && n + 1 != kept.size()) continue;
    points.back().hint = fmt::format("iteration {}: {:.3g}", k, r.history[k]);
    if (by_second) points.back().hint += fmt::format(" after {}", seconds_text(at));
  }
  return points;
}

picture::chart chart_of(const solve_report& r, double goal, bool by_second) {
  picture::axis x{by_second ? "seconds since the solver started" : "iteration"};
  x.whole = !by_second;
  picture::chart c(by_second ? "Relative residual by second" : "Relative residual by iteration", x,
                   {"|b - A x| / |b|", picture::scale::logarithmic});
  c.width(plot_width);
  const double last = by_second ? r.history_seconds.back() : double(r.history.size() - 1);
  if (goal > 0) c.guide(fmt::format("goal {:.3g}", goal), {last > 0 ? last : 1, goal}, {0, goal});
  c.line("by the recurrence", curve(r, by_second));
  if (r.relative_residual > 0)
    c.points("recomputed from x", {{last, r.relative_residual, fmt::format("{:.3e}", r.relative_residual)}});
  return c;
}

/// A curve needs a value that has a place on it.
bool has_curve(const solve_report& r) {
  return std::ranges::any_of(r.history, [](double v) { return std::isfinite(v) && v > 0; });
}

/// A picture, and for the script the box of its plot and what the sides stand for.
void add_curve(html& page, const solve_report& r, double goal, bool by_second) {
  const picture::chart c = chart_of(r, goal, by_second);
  const picture::chart::frame f = c.place();
  const std::string box = fmt::format("{:.6g} {:.6g} {:.6g} {:.6g} {:.9g} {:.9g} {:.9g} {:.9g}", f.left, f.right, f.top,
                                      f.bottom, f.x.low, f.x.high, f.y.low, f.y.high);
  page.open("figure", fmt::format("data-by=\"{}\" data-box=\"{}\"", by_second ? "second" : "iteration", box));
  page.raw(inlined(c.svg())).close();
}

} // namespace

void add_convergence(html& page, const subject& s) {
  const solve_report& r = s.r;
  page.open("section").element("h2", "Convergence");
  if (!has_curve(r)) {
    page.element("p", "There is no curve: no residual was recorded on the way.").close();
    return;
  }
  page.open("div", "class=\"pair curves\"");
  add_curve(page, r, s.context.goal, false);
  const bool timed = r.history_seconds.size() == r.history.size() && r.history_seconds.back() > 0;
  if (timed) add_curve(page, r, s.context.goal, true);
  page.close();
  page.element(
      "p",
      fmt::format(
          "The curve begins at {} and ends at {} after {} iteration{}{}; the residual that was computed "
          "anew from x is {}{}.",
          figure(r.history.front()), figure(r.history.back()), count_text(r.iterations), r.iterations == 1 ? "" : "s",
          r.inner_iterations ? fmt::format(", {} of the solver inside them", count_text(r.inner_iterations)) : "",
          has_residual(r) ? figure(r.relative_residual) : "not known",
          r.restarts ? fmt::format(", with {} restart{} from it", r.restarts, r.restarts == 1 ? "" : "s") : ""),
      "class=\"note\"");
  page.close();
}

} // namespace furrow::report

namespace furrow {

std::string draw_convergence(const solve_report& r, double goal) {
  return report::has_curve(r) ? report::chart_of(r, goal, false).svg() : std::string();
}

} // namespace furrow
