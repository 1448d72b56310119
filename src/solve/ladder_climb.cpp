// SPDX-License-Identifier: BSD-3-Clause
// How a ladder climbs from rung to rung for a right-hand side.
#include "ladder.hpp"

#include "run.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow {
namespace {

/// Of each rung behind complete factors that have left what rounding does, near the goal: few of another method may
/// get there from there, and more do not. lsmr took 225,000, for 27 s, of 22,500 rows whose factors took 0.6.
constexpr index_t steps_at_rounding = 200;

template <class V> double norm(cview<V> v) {
  double squares = 0;
  for (const V vi : v) squares += double(vi) * double(vi);
  return std::sqrt(squares);
}

} // namespace

/// An x that was set aside, and what was said of it.
template <class V> struct ladder<V>::candidate {
  std::vector<V> x;
  solve_report report;
};

/// Whether x is so large that the rounding of A x leaves nothing of A'r below its goal: such an x has grown along
/// vectors that A maps to zero, and some methods begin elsewhere.
template <class V> bool ladder<V>::hides_its_residual(cview<V> b, cview<V> x, double relative) const {
  const double lost = std::numeric_limits<V>::epsilon() * system_.norm_2 * norm(x);
  return lost > 0.01 * system_.options.rtol * relative * norm(b);
}

template <class V> bool ladder<V>::goes_on(status why, index_t iterations) const {
  if (answers(why) || why == status::interrupted) return false;
  if (system_.options.max_iterations > 0 && iterations >= system_.options.max_iterations) return false;
  return now() <= system_.deadline && !(system_.options.cancelled && system_.options.cancelled());
}

/// Nothing follows complete factors by which the residual is that of rounding.
template <class V> bool ladder<V>::ends(status why, const std::string& solver, index_t iterations) const {
  return !goes_on(why, iterations) || (has_factored(solver) && why == status::stagnated);
}

/// Whether the answer of a rung on trial is one; where not, `tried` says so, and the next one answers.
template <class V>
bool ladder<V>::is_sure(solve_report& report, solve_rung& tried, cview<V> b, cview<V> x, const work_done& w,
                        index_t iterations) {
  if (!answers(report.why) || at_ + 1 == plans_.size()) return true;
  const double since = now();
  doubt(report, b, x, w);
  tried.solve_seconds += now() - since;
  if (report.warning.empty() || !goes_on(status::stagnated, iterations)) return true;
  tried.outcome += "; " + report.warning;
  looked_ = {}, by_factors_.reset(), asks_augmented_ = false, told_ = {}, shown_ = {};
  return false;
}

/// Least squares, and what is tried of a singular matrix.
template <class V> bool ladder<V>::begins_anew(const rung_plan& plan) const {
  return singular_ || find_solver(plan.solver).needs.transposed;
}

/// The one that was set aside, or x, of which `report` tells.
template <class V>
typename ladder<V>::candidate ladder<V>::better_of(std::optional<candidate> aside, cview<V> x,
                                                   const solve_report& report) {
  const double before = aside ? aside->report.relative_residual : std::numeric_limits<double>::quiet_NaN();
  if (!std::isnan(before) && !(report.relative_residual < before)) return std::move(*aside);
  return {std::vector<V>(x.begin(), x.end()), report};
}

template <class V> void ladder<V>::hand_back_the_better(candidate aside, view<V> x, solve_report& best) {
  candidate better = better_of(std::move(aside), x, best);
  std::ranges::copy(better.x, x.begin());
  best.relative_residual = better.report.relative_residual;
  if (best.why != status::interrupted) best = std::move(better.report);
}

/// Behind the last rung, where that could not be set up, the last one that went no further than its outlook follows
/// without one. `left_early`: that one; none behind least squares that had all of their steps.
template <class V>
void ladder<V>::go_back_from_the_end(std::optional<rung_plan>& left_early, const rung_plan& plan, status why) {
  if (kept_ && plan.outlook > 0 && !answers(why)) left_early = plan;
  if (kept_ && plan.outlook == 0 && find_solver(plan.solver).needs.transposed) left_early.reset();
  if (kept_ || !left_early || at_ + 1 < plans_.size()) return;
  plans_.push_back(*std::exchange(left_early, std::nullopt));
  plans_.back().outlook = 0;
  plans_.back().reason = "to its own limit: nothing that follows could be set up";
}

/// What a climb has come to.
template <class V> struct ladder<V>::ascent {
  ascent(cview<V> b, cview<V> x, double when, index_t spent, const work_done& before)
      : first(x.begin(), x.end()), began(when), iterations(spent), work(before), to{b} {}

  const std::vector<V> first; ///< guess
  const double began;
  index_t iterations;
  work_done work;
  aim to;
  solve_report best = not_started(status::breakdown, "no method could be set up");
  std::optional<candidate> aside{};
  std::optional<detour> went{}; ///< how it began, if not where it stood; until that rung is over
  bool went_back = false;
  std::optional<solve_report> at_rounding{}; ///< of complete factors that left no more of the residual than that
  std::vector<solve_rung> rungs{};
  double setup_seconds = 0, solve_seconds = 0;
};

template <class V> status ladder<V>::shown_by_factors(const solve_report& r, ascent& here, cview<V> x) const {
  constexpr double unit = std::numeric_limits<double>::epsilon() / 2; // factors are in double
  const double skeel = kept_->m->condition().skeel;
  if (!(skeel * unit < 0.1)) return status::singular; // no digit of x would be right
  const double by_rounding = std::numeric_limits<V>::epsilon() * system_.norm_2 * norm(x);
  const double size = norm(here.to.target()), goal = std::max(system_.options.rtol * size, system_.options.atol);
  const double left = r.relative_residual * size; // nos7: 1.05e-8 here, and 8.8e-9 of another method
  if (!(left <= by_rounding)) return status::max_iterations;
  here.at_rounding = r;
  return left > 10 * goal ? status::stagnated : status::max_iterations;
}

/// The limits of the rung whose turn it is.
template <class V> solve_options ladder<V>::rest_for(const rung_plan& plan, const ascent& here) const {
  solve_options o = kept_ ? kept_->options : system_.options;
  o.outlook = plan.outlook;
  o.time_limit = std::max(system_.options.time_limit - (now() - here.began), 0.0);
  if (o.max_iterations > 0) o.max_iterations -= here.iterations;
  for (const index_t most : {plan.most, here.at_rounding ? steps_at_rounding : 0})
    if (most > 0) o.max_iterations = o.max_iterations > 0 ? std::min(o.max_iterations, most) : most;
  return o;
}

/// By the method of the rung, which is set up. `setup`: seconds that took.
template <class V> solve_rung ladder<V>::solve_by(const rung_plan& plan, ascent& now_at, view<V> x, double setup) {
  const bool least_squares = find_solver(plan.solver).needs.transposed;
  const aim& to = now_at.to;
  solve_report& best = now_at.best;
  kept_->method.set_limits(rest_for(plan, now_at));
  if (begins_anew(plan) && hides_its_residual(to.b, as_cview(x), best.relative_residual)) {
    now_at.aside = better_of(std::move(now_at.aside), x, best);
    std::ranges::copy(now_at.first, x.begin());
  }
  best = kept_->method.solve(least_squares ? to.b : to.target(), x);
  best.solver = plan.solver, best.precond = plan.precond;
  if (to.is_split() && !least_squares) {
    if (best.why == status::converged) settle_nearest(best, to, x, {.iterations = now_at.iterations});
    else to.tell_of_b(best);
  }
  now_at.iterations += best.iterations;
  now_at.work.add(best, system_.known);
  return rung_of(best, kept_->options.where, plan.reason, setup);
}

/// What comes of a rung; `plan` may become another one that does the same.
template <class V> solve_rung ladder<V>::try_rung(rung_plan& plan, ascent& now_at, view<V> x) {
  solve_report& best = now_at.best;
  if (plan.augmented) {
    solve_report r = solve_augmented(plan, now_at.to.b, x, rest_for(plan, now_at));
    solve_rung tried = rung_of(r, {}, plan.reason, r.setup_seconds);
    now_at.iterations += r.iterations;
    if (answers(r.why)) best = std::move(r);
    else if (r.why == status::interrupted) best.why = r.why, best.message = r.message;
    return tried;
  }
  solve_rung tried{plan.solver, plan.precond, system_.options.where, plan.reason, {}};
  if (stands(plan, tried)) {
    plans_[at_] = plan;
    return solve_by(plan, now_at, x, tried.setup_seconds);
  }
  if (now_at.rungs.empty() || std::isnan(best.relative_residual)) best = not_started(tried.why, tried.outcome);
  return tried;
}

template <class V> solve_report ladder<V>::climb(cview<V> b, view<V> x, const effort& spent) {
  ascent here(b, as_cview(x), begin_solve(spent.seconds), spent.iterations, std::exchange(before_, {}));
  here.work.on_gpu = system_.options.where.is_gpu();
  solve_report& best = here.best;
  std::optional<rung_plan> left_early;
  here.went_back = (here.went = go_back()).has_value();
  split_ = false;
  const auto splits_late = [&] { // x may have grown along what is normal to the range
    return split(here.to) && (std::ranges::copy(here.first, x.begin()), true);
  };
  if (may_split()) split(here.to);
  for (; at_ < plans_.size(); ++at_) {
    rung_plan plan = plans_[at_];
    if (find_solver(plan.solver).needs.transposed && splits_late()) { // no rung before had a chance
      at_ = std::size_t(-1);
      continue;
    }
    const bool made_before = system_.has_first() && !plan.augmented;
    solve_rung tried = try_rung(plan, here, x);
    const bool factored = has_factored(plan.solver) && !plan.augmented;
    const status why =
        factored && goes_on(tried.why, here.iterations) ? shown_by_factors(best, here, as_cview(x)) : tried.why;
    if (why == status::singular && (!singular_ || singular_by_.empty()))
      singular_by_ = plan.solver + " with " + plan.precond;
    go_back_from_the_end(left_early, plan, why);
    if (!made_before) here.setup_seconds += tried.setup_seconds;
    here.solve_seconds += tried.solve_seconds;
    const bool sure = !plan.on_trial || is_sure(best, tried, b, as_cview(x), here.work, here.iterations);
    if (!sure) { // x meets the goal as it stands: the next one would have nothing to do
      here.aside = better_of(std::move(here.aside), as_cview(x), best);
      best = not_started(status::stagnated, tried.outcome); // of the x that follows nothing is known
      std::ranges::fill(x, V(0));
    }
    here.rungs.push_back(std::move(tried));
    if (sure && answers(why)) system_.drop_rows();
    if (sure && ends(why, plan.solver, here.iterations)) break;
    if (why == status::singular && splits_late()) {
      if (factored) forget(plan.solver);
      else --at_; // once more, for what b has in the range
      continue;
    }
    const bool nearest_not_found =
        here.to.is_split() && at_ + 1 == plans_.size() && !answers(why) && why != status::interrupted;
    if (is_left_for_b(plan, why) && !better_) better_ = at_;
    turn(nearest_not_found ? status::singular : why, plan.solver, here.rungs);
    skip_what_came_between(here.went);
  }
  return end_climb(here, x);
}

template <class V> solve_report ladder<V>::end_climb(ascent& here, view<V> x) {
  solve_report& best = here.best;
  const cview<V> b = here.to.b;
  const bool exhausted = at_ >= plans_.size();
  const bool cut_short = !exhausted && !kept_; // in the set-up of the last one
  at_ = std::min(at_, plans_.size() - 1);
  if (std::isnan(best.relative_residual) && best.why != status::interrupted)
    best.relative_residual = residual_of_triplets<V>(*system_.a().to_triplets(), b, as_cview(x));
  constexpr double by_far = 0.5; // then the other residual is not the least
  const bool beaten = here.aside && best.why == status::least_squares &&
                      here.aside->report.relative_residual < by_far * best.relative_residual;
  if (here.aside && (beaten || !answers(best.why))) hand_back_the_better(std::move(*here.aside), x, best);
  if (here.at_rounding && exhausted && !answers(best.why) && best.why != status::interrupted) {
    here.at_rounding->relative_residual = best.relative_residual;
    best = std::move(*here.at_rounding);
  }
  if (best.why == status::not_positive_definite) put_right(best, exhausted);
  if (cut_short && !answers(best.why) && !best.solver.empty()) {
    const solve_rung& last = here.rungs.back();
    best.why = last.why;
    best.message = "ended in the set-up of " + last.solver + " with " + last.precond + ": " + last.outcome +
                   "; before it " + best.solver + " with " + best.precond + ": " + best.message;
  }
  if (!answers(best.why) && best.why != status::interrupted && system_.options.cancelled &&
      system_.options.cancelled()) {
    best.why = status::interrupted;
    best.message = "interrupted before the next method; " + best.message;
  }
  const auto names_the_clock = [](const std::string& text) { return text.find("the limit on") != text.npos; };
  const bool by_the_clock = !exhausted || (!here.rungs.empty() && names_the_clock(here.rungs.back().outcome));
  if (!answers(best.why) && best.why != status::interrupted && now() > system_.deadline && by_the_clock &&
      !names_the_clock(best.message))
    best.message = "stopped by the limit on its time; " + best.message;
  remember_end(best.why, here.went_back, exhausted);
  if (answers(best.why)) {
    const double since = now();
    doubt(best, b, as_cview(x), here.work);
    here.solve_seconds += now() - since;
  }
  best.setup_seconds = here.setup_seconds, best.solve_seconds = here.solve_seconds;
  best.rungs = std::move(here.rungs);
  return std::move(best);
}

template solve_report ladder<double>::climb(cview<double>, view<double>, const effort&);
template solve_report ladder<float>::climb(cview<float>, view<float>, const effort&);

} // namespace furrow
