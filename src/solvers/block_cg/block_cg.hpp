// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_step.hpp"
#include "words.hpp"

#include "backends/cpu/block.hpp"
#include "solvers/cg/judge.hpp"
#include "solvers/cg/messages.hpp"
#include "solvers/messages.hpp"
#include "solvers/residual_at_hand.hpp"

#include <furrow/value.hpp>

#include <chrono>
#include <optional>

namespace furrow::block_cg {

/// Sums x^2 and (x - x0)^2.
struct squares_moved {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V x, V x0, sums<2> sum) const {
    const double now = double(x), moved = now - double(x0);
    sum[0] += now * now, sum[1] += moved * moved;
  }
};

/// How a column is solved by itself: conjugate gradients, where the vectors are.
template <class V> using runner_of_one = solve_report (*)(const linear_system<V>&, const solve_options&);

/// Block conjugate gradients around `block_step`: up to 16 columns of a symmetric positive definite system.
///
/// The block brings columns to where its recurrence believes them to be done, and starts again from b - A X with those
/// that are not; then conjugate gradients take over each column from there: they say `converged` of the residual that
/// they compute anew, as they always do, and go on where it is not small enough or where the block could not. Columns
/// that are left at a limit, interrupted, or in front of a matrix that is not definite end in the sentences of cg.
/// No x comes back worse in |b - A x| than its first guess. Memory: 4 blocks of 2, 4, 8 or 16 vectors, 5 where M is
/// more than a diagonal, a vector a column for the x that its end is held against, as cg does, and the first guesses
/// that are not 0. The same bits on every run, and for every number of
/// threads. The host looks at the steps about every twentieth of a second; on the CPU after each.
///
/// S: the space of b and x; Passes<V, W>: those over its blocks.
template <class S, template <class, int> class Passes> class block_conjugate_gradients {
  using V = typename S::value;
  using array = decltype(std::declval<S&>().make(0));

public:
  /// b and x of `systems`: columns of n elements, all of which are finite and no b zero.
  block_conjugate_gradients(const linear_system<V>& systems, index_t columns, const solve_options& o,
                            runner_of_one<V> alone)
      : systems_(systems), o_(o), alone_(alone), looks_(space_.make_slots(2)), n_(systems.a.shape().rows),
        columns_(static_cast<std::size_t>(columns)),
        limit_(o.max_iterations > 0 ? o.max_iterations : std::max<index_t>(10 * n_, 10000)) {
    for (index_t j = 0; j < columns; ++j) {
      column& c = at(j);
      c.norm_b = norm(b_of(j)), c.goal = std::max(o.rtol * c.norm_b, o.atol);
      const view<V> x = x_of(j);
      if (norm(x) > 0) {
        c.first_x.emplace(space_.make(n_));
        space_.copy(x, as_view(*c.first_x));
      }
      active_.push_back(j);
    }
  }

  std::vector<solve_report> run() {
    for (int starts = 0; active_.size() > 1 && starts < 10; ++starts) {
      bool goes_on = false;
      const auto count = static_cast<index_t>(active_.size());
      cpu::with_block_width(cpu::block_width(count), [&](auto width) { goes_on = run_block<width>(); });
      if (!goes_on) break;
    }
    std::vector<solve_report> reports;
    const double share = seconds() / double(columns_.size());
    for (index_t j = 0; j < index_t(columns_.size()); ++j) {
      reports.push_back(finish(j));
      reports.back().solve_seconds += share;
      stopped_ = stopped_ || reports.back().why == status::interrupted;
    }
    return reports;
  }

private:
  struct column {
    double norm_b = 0, goal = 0, first = -1, residual = 0;
    index_t iterations = 0, restarts = 0;
    std::optional<array> first_x; ///< none: zeros
    std::optional<array> kept_x;  ///< of a step, with its residual, which was a tenth of the one kept before it
    double kept = 0;
    bool begun = false;    ///< the block may have moved x
    double ratio_in_m = 0; ///< r'M r over (x - x0)'M^-1 (x - x0), as far as the last start knows
    std::vector<double> history, history_seconds;
    std::optional<ending> end;
  };

  column& at(index_t j) { return columns_[static_cast<std::size_t>(j)]; }
  cview<V> b_of(index_t j) const { return {systems_.b.data + j * n_, n_}; }
  view<V> x_of(index_t j) const { return {systems_.x.data + j * n_, n_}; }
  double norm(cview<V> v) {
    space_.dot(v, v, {looks_.data()});
    return std::sqrt(space_.read({looks_.data()}));
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  template <int W> using step_of = block_step<S, Passes<V, W>, V, W>;

  /// Runs the columns that are left until they seem to be done; false where starting again would not help.
  template <int W> bool run_block() {
    const bool stored = systems_.m.what() == any_preconditioner<V>::kind::general;
    const double kept = double(sizeof(V)) * double(n_) * double(active_.size());
    refuse_too_large(static_cast<index_t>(active_.size()), step_of<W>::bytes(n_, stored) + kept, o_.where);
    step_of<W> block(space_, systems_, active_);
    bytes_per_step_ = block.bytes_per_step();
    const std::vector<double> lengths = block.load();
    if (!look_at(lengths)) return false;
    std::vector<index_t> left;
    for (const index_t j : active_)
      if (at(j).residual > at(j).goal) left.push_back(j);
    if (left.size() < active_.size()) { // those that are done leave, and the block gets narrower
      active_ = std::move(left);
      return true;
    }
    const double worst = worst_ratio();
    if (!(worst < 0.1 * last_worst_)) return false;
    last_worst_ = worst;
    for (const index_t j : active_) at(j).restarts += at(j).iterations > 0, at(j).begun = true;
    return iterate(block, lengths);
  }

  /// The recomputed residuals of the columns at hand; false where one is not finite.
  bool look_at(const std::vector<double>& lengths) {
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      column& c = at(active_[k]);
      if (!std::isfinite(lengths[k])) return false;
      c.residual = lengths[k];
      if (c.first < 0) c.first = c.kept = lengths[k], record(c, seconds());
    }
    return true;
  }
  double worst_ratio() {
    double worst = 0;
    for (const index_t j : active_)
      worst = std::max(worst, at(j).residual > at(j).goal ? at(j).residual / at(j).goal : 0);
    return worst;
  }
  void record(column& c, double when) {
    if (!o_.history) return;
    c.history.push_back(c.residual / c.norm_b);
    c.history_seconds.push_back(when);
  }

  template <int W> bool iterate(step_of<W>& block, const std::vector<double>& lengths) {
    const double rr = last_worst_ * last_worst_;
    const double slots[control::own_slot] = {rr, rr, double(steps_), 0, rr, control::running, double(steps_), rr};
    std::vector<double> goals;
    for (const index_t j : active_) goals.push_back(at(j).goal);
    block.start(lengths, goals, slots,
                {.goal = 1,
                 .steps = double(limit_),
                 .patience = double(std::max<index_t>(2 * n_, 5000)),
                 .ceiling = rr * 1e40,
                 .hump = std::numeric_limits<double>::infinity(),
                 .outlook = double(o_.outlook)});
    auto loop = space_.repeat([&block] { block.step(); }, block.until(), systems_.m.waits());
    int why = control::running;
    for (index_t chunk = 1; why == control::running;) {
      const double before = seconds();
      const index_t keep = next_kept(steps_);
      loop.run(std::min(chunk, keep - steps_));
      why = take_over(block, before);
      if (why == control::running && steps_ == keep) keep_if_best(block);
      if (why == control::running && !goes_on()) break;
      const double took = seconds() - before;
      if (took < 0.025) chunk = std::min(2 * chunk, block.kept());
      if (took > 0.1) chunk = std::max<index_t>(chunk / 2, 1);
    }
    if (why == no_inverse) why = block.judge();
    block.store();
    if (const auto values = block.ritz_values(); values.smallest > 0) {
      smallest_ = std::min(smallest_, values.smallest);
      largest_ = std::max(largest_, values.largest);
    }
    end_all(why);
    return why == control::small_enough;
  }

  /// What the steps since the last look have brought; the verdict.
  template <int W> int take_over(step_of<W>& block, double before) {
    const double now = seconds(), first = double(steps_);
    const block_state<W>& s = block.look(steps_, [&](const step_record<W>& step, index_t later) {
      const double each = (now - before) / std::max(double(steps_) + double(later) + 1 - first, 1.0);
      ++steps_;
      for (std::size_t k = 0; k < active_.size(); ++k) {
        if (!step.counted[k]) continue;
        column& c = at(active_[k]);
        c.residual = step.residual[k];
        ++c.iterations;
        record(c, now - each * double(later));
      }
    });
    for (std::size_t k = 0; k < active_.size(); ++k) at(active_[k]).ratio_in_m = s.ratio_in_m[k];
    pivot_ = s.pivot;
    return s.why;
  }

  /// The step at which x may be kept, as `control` has it, and before, where chunks that grow end anyhow: a block is
  /// done after fewer steps.
  static index_t next_kept(index_t now) { return now < 3 ? 3 : now < 7 ? 7 : control::next_kept(now); }

  /// Copies x of the columns whose residual is a tenth of the one kept, as `iteration` does.
  template <int W> void keep_if_best(step_of<W>& block) {
    const auto fell = [&](index_t j) { return at(j).residual > at(j).goal && at(j).residual < 0.1 * at(j).kept; };
    if (!std::ranges::any_of(active_, fell)) return;
    block.store();
    for (const index_t j : active_) {
      if (!fell(j)) continue;
      column& c = at(j);
      if (!c.kept_x) c.kept_x.emplace(space_.make(n_));
      space_.copy(x_of(j), as_view(*c.kept_x));
      c.kept = c.residual;
    }
  }

  /// Tells the watcher about ten times a second.
  bool goes_on() {
    const double now = seconds();
    if (now - told_ < 0.05) return true;
    told_ = now;
    double worst = 0;
    for (const index_t j : active_) worst = std::max(worst, at(j).residual / at(j).norm_b);
    return now <= o_.time_limit && (!o_.watch || o_.watch({steps_, worst, now}));
  }

  /// The end that `why` means for the columns that are not done; none where conjugate gradients go on.
  void end_all(int why) {
    std::optional<ending> end;
    double slots[cg_scalars::slot_end] = {};
    slots[cg_scalars::pq] = pivot_;
    if (why == control::limit) end = ending{status::max_iterations, solver_messages::limit};
    if (why == control::too_slow) end = ending{status::max_iterations, solver_messages::too_slow};
    if (why == control::running)
      end = seconds() > o_.time_limit ? ending{status::max_iterations, solver_messages::out_of_time}
                                      : ending{status::interrupted, solver_messages::interrupted};
    if (why == negative_pivot) end = cg_messages::explain(cg_scalars::negative_pq, slots, true);
    for (const index_t j : active_)
      if (at(j).residual > at(j).goal) at(j).end = end;
  }

  /// x becomes its first guess again where that was better; the residual is recomputed.
  void hand_back_the_best(index_t j) {
    column& c = at(j);
    const view<V> x = x_of(j);
    const auto recompute = [&] {
      array r = space_.make(n_);
      systems_.a.residual(b_of(j), x, as_view(r), {looks_.data()});
      c.residual = std::sqrt(space_.read({looks_.data()}));
    };
    recompute();
    if (c.residual <= c.first || c.first < 0) return;
    if (c.first_x) space_.copy(as_cview(*c.first_x), x);
    else space_.sweep(n_, pass(set_zero{}, out(x)));
    recompute();
  }

  solve_report finish(index_t j) {
    column& c = at(j);
    if (c.begun && !(c.residual <= c.goal)) hand_back_the_best(j);
    if (stopped_ && !c.end) c.end = ending{status::interrupted, solver_messages::interrupted};
    if (c.end && c.residual > c.goal) {
      solve_report report;
      const bool preconditioned = systems_.m.what() != any_preconditioner<V>::kind::identity;
      report.why = c.end->why;
      report.iterations = c.iterations;
      report.restarts = c.restarts;
      report.relative_residual = c.residual / c.norm_b;
      report.message = c.end->sentence(
          {c.iterations, c.restarts, report.relative_residual, c.first / c.norm_b, 0, preconditioned, !is_wide<V>});
      return with_history(c, std::move(report));
    }
    return with_history(c, go_on_alone(j));
  }

  /// Conjugate gradients from the x of the block: the verdict, and what is still to do.
  solve_report go_on_alone(index_t j) {
    const column& c = at(j);
    solve_options o = o_;
    o.max_iterations = std::max<index_t>(limit_ - c.iterations, 1);
    o.time_limit = o_.time_limit - seconds();
    linear_system<V> one = systems_;
    one.b = b_of(j), one.x = x_of(j);
    solve_report report = alone_(one, o);
    if (c.iterations == 0) return report;
    report.iterations += c.iterations;
    report.restarts += c.restarts;
    if (report.why == status::converged) {
      report.message = solver_messages::converged({.iterations = report.iterations});
      estimate(j, report);
    } else report.message = after_block(c.iterations, report.message);
    return report;
  }

  /// What x has moved since the one kept last, times what the residual has fallen since: `best_x`.
  double error_by_progress(index_t j, double relative_residual) {
    const column& c = at(j);
    const double now = relative_residual * c.norm_b, then = c.kept_x ? c.kept : c.first;
    if (!(c.kept_x || c.first_x) || !(now < then)) return 0;
    linear_system<V> one = systems_;
    one.b = b_of(j), one.x = x_of(j);
    return residual_at_hand<S>(space_, one).moved_since(c.kept_x ? *c.kept_x : *c.first_x) * now / then;
  }

  /// As cg does, by progress and from the Ritz values of the block: |x - A^-1 b| / |x - x0| in M^-1, times |x - x0| /
  /// |x|.
  void estimate(index_t j, solve_report& report) {
    report.error_estimate = std::max(report.error_estimate, error_by_progress(j, report.relative_residual));
    estimate_by_ritz_values(j, report);
    report.warning =
        solver_messages::inaccurate(report.error_estimate, report.condition_estimate, report.relative_residual);
  }

  void estimate_by_ritz_values(index_t j, solve_report& report) {
    const column& c = at(j);
    if (!(largest_ > 0 && c.ratio_in_m > 0)) return;
    double share = 1;
    if (c.first_x) {
      double of[2] = {};
      space_.sweep(n_, pass(squares_moved{}, in(x_of(j)), in(as_cview(*c.first_x))), slot{looks_.data()},
                   slot{looks_.data() + 1});
      space_.fetch({looks_.data(), 2}, {of, 2});
      if (of[0] > 0) share = std::sqrt(of[1] / of[0]);
    }
    report.condition_estimate = std::max(report.condition_estimate, largest_ / smallest_);
    report.error_estimate = std::max(report.error_estimate, share * std::sqrt(c.ratio_in_m) / smallest_);
  }

  /// The history of the block before that of the column.
  solve_report with_history(column& c, solve_report report) {
    if (c.iterations > 0) report.bytes_per_iteration = bytes_per_step_ / double(columns_.size());
    if (!o_.history || c.history.empty()) return report;
    const std::size_t known = std::min<std::size_t>(report.history.size(), 1);
    const double before = c.history_seconds.back();
    for (double& when : report.history_seconds) when += before;
    c.history.insert(c.history.end(), report.history.begin() + known, report.history.end());
    c.history_seconds.insert(c.history_seconds.end(), report.history_seconds.begin() + known,
                             report.history_seconds.end());
    report.history = std::move(c.history);
    report.history_seconds = std::move(c.history_seconds);
    return report;
  }

  const linear_system<V>& systems_;
  const solve_options& o_;
  runner_of_one<V> alone_;
  S space_;
  decltype(std::declval<S&>().make_slots(0)) looks_;
  index_t n_;
  std::vector<column> columns_;
  std::vector<index_t> active_; ///< columns that are not done
  index_t limit_, steps_ = 0;
  bool stopped_ = false; ///< a column that went on alone: the others do not
  double last_worst_ = std::numeric_limits<double>::infinity(), told_ = 0,
         smallest_ = std::numeric_limits<double>::infinity(), largest_ = 0, bytes_per_step_ = 0, pivot_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

} // namespace furrow::block_cg
