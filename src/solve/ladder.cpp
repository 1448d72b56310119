// SPDX-License-Identifier: BSD-3-Clause
#include "ladder.hpp"

#include "coordinates.hpp"
#include "memory.hpp"
#include "run.hpp"
#include "transposed.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/parameters.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace furrow {
namespace {

bool fits_on_chip(const stats& s, precision p, device where) {
  return where.is_gpu() && has_solver("cg_resident") && find_solver("cg_resident").set_up.may_serve(s, p, where);
}

bool answers(status why) { return why == status::converged || why == status::least_squares; }
/// Another rung would not help, or was not asked for.
bool ends(status why) { return why == status::interrupted; }

/// Nothing is left to try for a right-hand side that ended so.
bool is_over(status why) { return answers(why) || ends(why) || why == status::nan; }

/// How a rung that could not be set up ended.
void leave(solve_rung& tried, status why, std::string outcome) {
  tried.why = why;
  tried.outcome = std::move(outcome);
  tried.relative_residual = std::numeric_limits<double>::quiet_NaN();
}

} // namespace

inventory inventory_of(device where, const stats& s, precision p) {
  return {has_solver,     has_preconditioner,
          where.is_gpu(), [](std::string_view precond) { return find_preconditioner(precond).on_gpu; },
          varies,         fits_on_chip(s, p, where)};
}

template <class V> struct ladder<V>::place {
  device where;
  std::unique_ptr<any_operator<V>> a, transposed{}; ///< A', once a rung needs it and A is not symmetric

  const any_operator<V>* transpose(bool symmetric) {
    if (symmetric) return a.get();
    if (!transposed) transposed = make_transposed(*a->to_triplets(), where);
    return transposed.get();
  }
};

/// An x that was set aside.
template <class V> struct ladder<V>::candidate {
  std::vector<V> x;
  double relative = 0;
};

template <class V> struct ladder<V>::part {
  solve_rung tried;
  std::unique_ptr<any_preconditioner<V>> m;
};

template <class V> struct ladder<V>::attempt {
  rung_plan plan;
  solve_options options;
  place& at;
  std::unique_ptr<any_preconditioner<V>> m;
  solver<V> method;
};

template <class V>
ladder<V>::ladder(matrix_source<V> a, const solve_options& o, setup_clock& clock,
                  std::shared_ptr<const diagonal_scales<V>> around_m)
    : options_(o), around_m_(std::move(around_m)) {
  const double began = now();
  deadline_ = began + o.time_limit;
  prepare(std::move(a), clock);
  setup_spent_ = now() - began;
}
template <class V> ladder<V>::~ladder() = default;

template <class V> void ladder<V>::set_limits(const solve_options& o) {
  options_.rtol = o.rtol, options_.atol = o.atol;
  options_.max_iterations = o.max_iterations, options_.time_limit = o.time_limit;
  if (!kept_) return;
  kept_->options.rtol = o.rtol, kept_->options.atol = o.atol;
  kept_->options.max_iterations = o.max_iterations;
}

template <class V> double ladder<V>::begin_solve(double seconds_before) {
  const double began = now() - seconds_before - std::exchange(setup_spent_, 0);
  deadline_ = began + options_.time_limit;
  return began;
}

template <class V> void ladder<V>::prepare(matrix_source<V> a, setup_clock& clock) {
  const solve_options& o = options_;
  const auto cancelled = [&] {
    if (o.cancelled && o.cancelled()) ended_ = ended(status::interrupted, "interrupted while it was set up");
    return ended_.has_value();
  };
  if (cancelled()) return;
  stats_ = a.measure();
  clock.end("look");
  const wish w = wish_of(o);
  chosen_ = choose(stats_, precision_of<V>, o.where, w);
  clock.end("choose");
  if (!stats_.finite) {
    ended_ = ended(status::nan, "iteration 0: the matrix holds a NaN or an infinity");
    return;
  }
  if (cancelled()) return;
  if (o.tune) chosen_ = tune(a.triplets(), stats_, o.where, w), clock.end("tune");
  const memory_estimate needed = estimate_memory(chosen_, stats_, precision_of<V>, o, a.bytes_on_gpu());
  check_memory(needed, stats_, precision_of<V>, o.where, a.bytes_on_gpu());
  announced_ = needed;
  if (o.announce) o.announce(needed);
  options_.scale = options_.reorder = "none"; // it is done
  features_ = features_of(a, stats_, o.assume_symmetric);
  if (around_m_ && !around_m_->symmetric) features_.symmetric = false; // as M is
  norm_2_ = features_.symmetric ? stats_.norm_inf : std::sqrt(stats_.norm_inf * largest_column_sum(a.triplets()));
  clock.end("symmetry");
  negated_ = features_.symmetric && features_.negative_only();
  if (negated_) {
    a.negate();
    features_.negative_diagonal = 0;
  }
  if (o.precond == "auto") {
    plans_ = rungs_for(features_, inventory_of(options_.where, stats_, precision_of<V>));
  } else {
    find_preconditioner(o.precond).lay_out(stats_, precision_of<V>, take_apart(o.precond).parameters); // throws
    plans_ = rungs_with(o.precond, features_, inventory_of(options_.where, stats_, precision_of<V>));
  }
  if (cancelled()) return;
  first_ = std::make_unique<part>(precondition(plans_.front(), &a));
  clock.end("precond");
  if (a.has_rows()) rows_ = a.rows_alone();
  places_.push_back(std::make_unique<place>(place{o.where, a.store(chosen_, stats_)}));
  if (rows_ && announced_.gpu > double(available_gpu_memory(o.where.ordinal))) rows_.reset();
  clock.end("convert");
}

template <class V> typename ladder<V>::place& ladder<V>::on(device where) {
  for (const auto& p : places_)
    if (p->where == where) return *p;
  const choice c = choose(stats_, precision_of<V>, where);
  places_.push_back(std::make_unique<place>(place{where, make<V>(c, where, *places_.front()->a->to_triplets())}));
  return *places_.back();
}

/// A rung that takes more than what was told: tells of it before the memory is taken.
template <class V> void ladder<V>::announce_more(const rung_plan& plan, const preconditioner_layout& m, bool on_gpu) {
  solve_options o = options_;
  o.solver = plan.solver;
  memory_estimate more = estimate_next_memory(chosen_, stats_, precision_of<V>, o, m, on_gpu);
  if (rows_) more.gpu += rows_->bytes_on_gpu();
  if (around_m_) more.host += double(8 + sizeof(V)) * double(stats_.nnz); // the triplets that M is made of
  if (more.host <= announced_.host && more.gpu <= announced_.gpu) return;
  announced_ = {std::max(more.host, announced_.host), std::max(more.gpu, announced_.gpu)};
  if (options_.announce) options_.announce(announced_);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> ladder<V>::make_m(const std::string& precond, const matrix_source<V>* a,
                                                         device where, const solver_needs& needed) const {
  if (around_m_ && may_be_scaled(precond)) {
    if (a) return make_scaled_preconditioner(precond, a->triplets(), where, needed, around_m_);
    return make_scaled_preconditioner(precond, *places_.front()->a->to_triplets(), where, needed, around_m_);
  }
  return a ? make_preconditioner(precond, *a, stats_, where, needed)
           : make_preconditioner(precond, *places_.front()->a->to_triplets(), where, needed);
}

template <class V> typename ladder<V>::part ladder<V>::precondition(const rung_plan& plan, const matrix_source<V>* a) {
  const double began = now();
  const preconditioner_entry& entry = find_preconditioner(plan.precond);
  const bool first = places_.empty();
  part made{{plan.solver, plan.precond, entry.on_gpu ? options_.where : device{}, plan.reason, {}}, {}};
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (options_.cancelled && options_.cancelled())
      return refusal{status::interrupted, "interrupted while it was set up"};
    if (now() > deadline_)
      return refusal{status::max_iterations, plan.precond + " was not set up within the limit on the time"};
    return {};
  });
  try {
    const preconditioner_layout l = lay_out_preconditioner(plan.precond, stats_, precision_of<V>, options_);
    const bool on_gpu = made.tried.where.is_gpu();
    const auto must_fit = [&](double takes, std::int64_t most, std::string_view side) {
      check(takes <= double(most), fault::memory, "{} takes about {:.3g} GB on the {}, of which {:.3g} GB can be had",
            plan.precond, takes * 1e-9, side, double(most) * 1e-9);
    };
    must_fit(l.making + (on_gpu ? 0 : l.bytes), available_host_memory(), "host");
    if (rows_ && !first && l.bytes + l.making_on_gpu > double(available_gpu_memory(options_.where.ordinal)))
      rows_.reset();
    if (!first && rows_ && on_gpu) a = &*rows_;
    if (on_gpu) must_fit(l.bytes + l.making_on_gpu, available_gpu_memory(options_.where.ordinal), "GPU");
    if (!first) announce_more(plan, l, on_gpu);
    const solver_needs needed = with_coordinates(find_solver(plan.solver).needs_for(features_.symmetric), options_);
    made.m = make_m(plan.precond, a, made.tried.where, needed);
  } catch (const refusal& r) {
    leave(made.tried, r.why, r.message);
  } catch (const error& e) {
    if (e.kind == fault::internal || options_.precond != "auto") throw;
    leave(made.tried, status::breakdown, e.what());
  }
  if (rows_) rows_->drop_triplets();
  made.tried.setup_seconds = now() - began;
  return made;
}

template <class V> std::unique_ptr<typename ladder<V>::attempt> ladder<V>::set_up(rung_plan& plan, solve_rung& tried) {
  part made = first_ ? std::move(*first_) : precondition(plan, nullptr);
  first_.reset();
  tried = std::move(made.tried);
  if (!made.m) return nullptr;
  solve_options o = options_;
  o.solver = plan.solver, o.precond = plan.precond, o.where = tried.where;
  place& p = on(tried.where);
  const any_operator<V>* transposed = nullptr;
  if (find_solver(plan.solver).needs.transposed) try {
      transposed = p.transpose(features_.symmetric);
    } catch (const error& e) {
      if (e.kind != fault::memory) throw;
      leave(tried, status::breakdown, e.what());
      return nullptr;
    }
  const auto method = [&] { return solver<V>(*p.a, made.m.get(), o, {norm_2_, stats_.row_max}, transposed); };
  const auto attempt_of = [&](solver<V> s) {
    return std::unique_ptr<attempt>(new attempt{plan, o, p, std::move(made.m), std::move(s)});
  };
  if (plan.solver != "cg_resident") return attempt_of(method());
  try {
    return attempt_of(method());
  } catch (const error& e) {
    if (e.kind != fault::memory && e.kind != fault::device) throw;
    o.solver = plan.solver = tried.solver = "cg"; // it did not fit on the chip
    return attempt_of(method());
  }
}

/// Other rungs follow where a method has shown what the matrix is.
template <class V> void ladder<V>::turn(status why, const std::string& solver) {
  const bool indefinite = why == status::not_positive_definite && !indefinite_ && !singular_ && features_.symmetric;
  const bool singular = why == status::singular && !singular_;
  const bool named = options_.precond != "auto"; // it stays, where least squares can have it
  if (!(indefinite || singular)) return;
  if (named && !(singular && find_preconditioner(options_.precond).rectangular)) return;
  (indefinite ? indefinite_ : singular_) = true;
  if (named) plans_ = {{"lsmr", options_.precond, "found to be singular: the least-squares answer", 0}};
  else if (indefinite) plans_ = rungs_for_indefinite(features_, inventory_of(options_.where, stats_, precision_of<V>));
  else plans_ = rungs_for_singular(features_, inventory_of(options_.where, stats_, precision_of<V>));
  // The method that has just failed is not tried again.
  std::erase_if(plans_, [&](const rung_plan& p) { return singular && p.solver == solver; });
  at_ = std::size_t(-1); // the first one is next
}

/// Whether x is so large that the rounding of A x leaves nothing of A'r below its goal: such an x has grown along
/// vectors that A maps to zero, and least squares begin elsewhere.
template <class V> bool ladder<V>::hides_its_residual(cview<V> b, cview<V> x, double relative) const {
  const auto norm = [](cview<V> v) {
    double squares = 0;
    for (const V vi : v) squares += double(vi) * double(vi);
    return std::sqrt(squares);
  };
  const double lost = std::numeric_limits<V>::epsilon() * norm_2_ * norm(x);
  return lost > 0.01 * options_.rtol * relative * norm(b);
}

/// The limits of the rung that is set up, after so many seconds and iterations of the others.
template <class V> solve_options ladder<V>::rest_for(const rung_plan& plan, double seconds, index_t iterations) const {
  solve_options o = kept_->options;
  o.outlook = plan.outlook;
  o.time_limit = options_.time_limit - seconds;
  if (o.max_iterations > 0) o.max_iterations -= iterations;
  if (plan.most > 0) o.max_iterations = o.max_iterations > 0 ? std::min(o.max_iterations, plan.most) : plan.most;
  return o;
}

template <class V> bool ladder<V>::goes_on(status why, index_t iterations) const {
  if (answers(why) || ends(why)) return false;
  if (options_.max_iterations > 0 && iterations >= options_.max_iterations) return false;
  return now() <= deadline_ && !(options_.cancelled && options_.cancelled());
}

template <class V> solve_report ladder<V>::climb(cview<V> b, view<V> x, const effort& spent) {
  const double began = begin_solve(spent.seconds);
  const std::vector<V> first(x.begin(), x.end());
  std::optional<candidate> aside;
  solve_report best = ended(status::breakdown, "no method could be set up");
  std::vector<solve_rung> rungs;
  index_t iterations = spent.iterations;
  work_done work{.on_gpu = options_.where.is_gpu()};
  double setup_seconds = 0, solve_seconds = 0;
  std::optional<rung_plan> left_early; // the last one that went no further than its outlook
  for (; at_ < plans_.size(); ++at_) {
    rung_plan plan = plans_[at_];
    const bool made_before = first_ != nullptr; // its seconds belong to the set-up
    solve_rung tried{plan.solver, plan.precond, options_.where, plan.reason, {}};
    if (!kept_ || kept_->plan.solver != plan.solver || kept_->plan.precond != plan.precond)
      kept_ = set_up(plan, tried), plans_[at_] = plan;
    if (kept_) {
      kept_->method.set_limits(rest_for(plan, now() - began, iterations));
      const double setup = tried.setup_seconds;
      if (find_solver(plan.solver).needs.transposed && hides_its_residual(b, as_cview(x), best.relative_residual)) {
        aside = candidate{std::vector<V>(x.begin(), x.end()), best.relative_residual};
        std::copy(first.begin(), first.end(), x.begin());
      }
      best = kept_->method.solve(b, x);
      tried = {plan.solver, plan.precond,    kept_->options.where,   plan.reason, best.message,
               best.why,    best.iterations, best.relative_residual, setup,       best.solve_seconds};
      best.solver = plan.solver, best.precond = plan.precond;
      iterations += best.iterations;
      work.add(best, features_);
    } else if (rungs.empty() || std::isnan(best.relative_residual)) {
      best = ended(tried.why, tried.outcome);
    }
    const status why = tried.why;
    if (why == status::singular) singular_by_ = plan.solver + " with " + plan.precond;
    if (kept_ && plan.outlook > 0 && !answers(why)) left_early = plan;
    if (!kept_ && left_early && at_ + 1 == plans_.size()) {
      plans_.push_back(*std::exchange(left_early, std::nullopt));
      plans_.back().outlook = 0;
      plans_.back().reason = "to its own limit: nothing that follows could be set up";
    }
    if (!made_before) setup_seconds += tried.setup_seconds;
    solve_seconds += tried.solve_seconds;
    rungs.push_back(std::move(tried));
    if (answers(why)) rows_.reset();
    if (!goes_on(why, iterations)) break;
    turn(why, plan.solver);
  }
  at_ = std::min(at_, plans_.size() - 1);
  if (std::isnan(best.relative_residual) && best.why != status::interrupted)
    best.relative_residual = residual_of_triplets<V>(*places_.front()->a->to_triplets(), b, as_cview(x));
  if (aside && !answers(best.why) && aside->relative < best.relative_residual) {
    std::copy(aside->x.begin(), aside->x.end(), x.begin());
    best.relative_residual = aside->relative;
  }
  if (answers(best.why)) {
    const double since = now();
    doubt(best, b, as_cview(x), work);
    solve_seconds += now() - since;
  }
  best.setup_seconds = setup_seconds, best.solve_seconds = solve_seconds;
  best.rungs = std::move(rungs);
  return best;
}

template <class V> void ladder<V>::doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& w) {
  if (report.solver == "direct") return singular_by_.clear(); // its pivots and its estimates say better
  const bool unclear = report.why == status::converged && singular_by_.empty() && in_doubt(report, features_);
  const bool looks = unclear && !std::exchange(looked_, looked_ || unclear);
  if (looks && says_nothing(report)) apart_ = start_again(report, b, x);
  const double operations = looks && !apart_ ? operations_worth(report, features_, w) : 0;
  if (operations > 0) {
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (now() <= deadline_ && !(options_.cancelled && options_.cancelled())) return {};
      return refusal{status::interrupted, "no time is left to estimate the error"};
    });
    announce_more({"direct", "lu", {}}, lay_out_preconditioner("lu", stats_, precision_of<V>, options_), false);
    facts_ = look_by_factors(*places_.front()->a->to_triplets(), b, x, operations, report.relative_residual);
    if (facts_ && facts_->singular) singular_by_ = "a complete factorisation";
  }
  if (!singular_by_.empty()) warn_of_many_answers(report, singular_by_);
  else if (unclear && facts_) put_into(report, *facts_);
  else if (unclear && apart_) put_apart(report, *apart_);
}

/// Nobody is told of its iterations.
template <class V> std::optional<double> ladder<V>::start_again(const solve_report& r, cview<V> b, cview<V> x) {
  const solver_entry& method = find_solver(kept_->plan.solver);
  if (method.set_up) return {}; // a form of its own, which would be made once more
  const any_operator<V>* transposed = method.needs.transposed ? kept_->at.transpose(features_.symmetric) : nullptr;
  const solve_from<V> from = [this, b, transposed](view<V> y, double rtol, index_t most) {
    solve_options o = kept_->options;
    o.rtol = rtol, o.atol = 0, o.max_iterations = most, o.outlook = 0, o.time_limit = std::max(deadline_ - now(), 0.0);
    o.monitor = {}, o.watch_every = 0, o.history = false;
    o.watch = [this](const progress&) { return !(options_.cancelled && options_.cancelled()); };
    return solver<V>(*kept_->at.a, kept_->m.get(), o, {norm_2_, stats_.row_max}, transposed).solve(b, y);
  };
  return error_by_second_start(x, r, std::max(options_.rtol, r.relative_residual), from); // atol may have been met
}

template <class V> solve_report ladder<V>::ended(status why, std::string message) const {
  solve_report report;
  report.why = why;
  report.message = std::move(message);
  report.relative_residual = std::numeric_limits<double>::quiet_NaN();
  return report;
}

template <class V> solve_report ladder<V>::solve(cview<V> b, view<V> x, const effort& spent) {
  solve_report report;
  if (ended_) {
    report = *ended_;
  } else if (auto wrong_b = not_finite(b, "b"); !wrong_b.empty()) {
    report = ended(status::nan, wrong_b);
  } else if (auto wrong_x = not_finite(as_cview(x), "the first guess"); !wrong_x.empty()) {
    report = ended(status::nan, wrong_x);
  } else if (negated_) {
    host_array<V> minus_b(b.size);
    std::ranges::transform(b, minus_b.begin(), [](V v) { return -v; });
    report = climb(as_cview(minus_b), x, spent);
  } else {
    report = climb(b, x, spent);
  }
  describe_choice(report);
  return report;
}

template <class V> void ladder<V>::describe_choice(solve_report& report) const {
  if (!ended_) {
    report.matrix_about = describe(features_);
    if (negated_) report.matrix_about += "; -A x = -b is solved";
    for (std::size_t k = at_ + 1; k < plans_.size(); ++k)
      report.untried.push_back(plans_[k].solver + " with " + plans_[k].precond);
  }
  if (chosen_.format) report.format = name_of(chosen_);
  report.kernel = places_.empty() ? chosen_.kernel : places_.front()->a->kernel();
  report.reason = chosen_.reason;
}

/// Whether the rung whose turn it is takes several right-hand sides at once, and gains by it: where the product takes
/// one vector after the other, the passes of the block cost more than its fewer iterations save.
template <class V> bool ladder<V>::takes_blocks() const {
  return !ended_ && at_ < plans_.size() && plans_[at_].solver == "cg" && !is_watched_closely(options_) &&
         places_.front()->a->multiplies_blocks();
}

/// The rung of cg with several columns at once. Where one of them is left, the next rung is at hand.
template <class V>
void ladder<V>::solve_block(cview<V> b, view<V> x, const std::vector<index_t>& numbers,
                            std::vector<solve_report>& reports, const effort& spent) {
  rung_plan plan = plans_[at_];
  const bool made_before = first_ != nullptr; // its seconds belong to the set-up
  solve_rung tried{"block_cg", plan.precond, options_.where, plan.reason, {}};
  if (!kept_ || kept_->plan.solver != plan.solver || kept_->plan.precond != plan.precond) kept_ = set_up(plan, tried);
  if (!kept_) {
    for (const index_t j : numbers) reports[static_cast<std::size_t>(j)].rungs.push_back(tried);
    ++at_;
    return;
  }
  solve_options o = kept_->options;
  o.solver = "block_cg", o.outlook = plan.outlook, o.time_limit = deadline_ - now();
  if (o.max_iterations > 0) o.max_iterations -= spent.iterations;
  solver<V> method(*kept_->at.a, kept_->m.get(), o, {norm_2_, stats_.row_max});
  auto ran = method.solve(b, x, index_t(numbers.size()));
  status worst = status::converged;
  for (std::size_t k = 0; k < ran.size(); ++k) {
    solve_report &r = ran[k], &all = reports[static_cast<std::size_t>(numbers[k])];
    const double setup = k == 0 && !made_before ? tried.setup_seconds : 0;
    if (!is_over(r.why)) worst = r.why;
    r.solver = "block_cg", r.precond = plan.precond;
    r.rungs = std::move(all.rungs);
    r.rungs.push_back({r.solver, r.precond, kept_->options.where, plan.reason, r.message, r.why, r.iterations,
                       r.relative_residual, setup, r.solve_seconds});
    r.setup_seconds = all.setup_seconds + setup, r.solve_seconds += all.solve_seconds;
    all = std::move(r);
    describe_choice(all);
  }
  if (is_over(worst)) return rows_.reset();
  turn(worst, "cg");
  ++at_;
}

template <class V> std::vector<solve_report> ladder<V>::solve(cview<V> b, view<V> x, index_t columns) {
  const double began = begin_solve(0);
  const index_t rows = stats_.shape.rows, cols = stats_.shape.cols;
  std::vector<solve_report> reports(static_cast<std::size_t>(columns));
  std::vector<index_t> left(static_cast<std::size_t>(columns));
  std::iota(left.begin(), left.end(), 0);
  effort spent;
  const auto within_limits = [&] {
    spent.seconds = now() - began;
    return spent.seconds <= options_.time_limit &&
           (options_.max_iterations == 0 || spent.iterations < options_.max_iterations);
  };
  while (left.size() > 1 && takes_blocks() && within_limits()) {
    const auto count = index_t(left.size());
    if (count == columns && !negated_) {
      solve_block(b, x, left, reports, spent);
    } else {
      host_array<V> some_b(count * rows), some_x(count * rows);
      for (index_t k = 0; k < count; ++k) {
        std::copy_n(b.data + left[k] * rows, rows, some_b.data() + k * rows);
        std::copy_n(x.data + left[k] * rows, rows, some_x.data() + k * rows);
      }
      if (negated_) std::ranges::transform(some_b, some_b.begin(), [](V v) { return -v; });
      solve_block(as_cview(some_b), as_view(some_x), left, reports, spent);
      for (index_t k = 0; k < count; ++k) std::copy_n(some_x.data() + k * rows, rows, x.data + left[k] * rows);
    }
    index_t most = 0;
    std::erase_if(left, [&](index_t j) {
      const solve_report& r = reports[static_cast<std::size_t>(j)];
      most = std::max(most, r.iterations);
      return !r.rungs.empty() && is_over(r.why);
    });
    spent.iterations += most;
  }
  at_ = std::min(at_, std::max<std::size_t>(plans_.size(), 1) - 1);
  for (const index_t j : left) {
    solve_report& before = reports[static_cast<std::size_t>(j)];
    if (!within_limits() && !before.message.empty()) continue;
    solve_report r = solve({b.data + j * rows, rows}, furrow::part(x, j * cols, cols), spent);
    r.rungs.insert(r.rungs.begin(), before.rungs.begin(), before.rungs.end());
    r.setup_seconds += before.setup_seconds, r.solve_seconds += before.solve_seconds;
    before = std::move(r);
  }
  return reports;
}

template class ladder<double>;
template class ladder<float>;

} // namespace furrow
