// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_step.hpp"

#include "backends/cpu/block.hpp"
#include "backends/cpu/space.hpp"
#include "core/check.hpp"
#include "solvers/cg/run.hpp"

#include <furrow/device.hpp>
#include <furrow/value.hpp>

#include <fmt/format.h>

#include <chrono>

namespace furrow::block_cg {

/// Block conjugate gradients around `block_step`: up to 16 columns of a symmetric positive definite system on the CPU.
///
/// The block brings columns to where its recurrence believes them to be done, and starts again from b - A X with those
/// that are not; then conjugate gradients take over each column from there: they say `converged` of the residual that
/// they compute anew, as they always do, and go on where it is not small enough or where the block could not. Columns
/// that are left at a limit, interrupted, or in front of a matrix that is not definite end in the sentences of cg.
/// No x comes back worse in |b - A x| than its first guess. Memory: 4 blocks of 2, 4, 8 or 16 vectors, 5 where M is
/// more than a diagonal, beside the first guesses that are not 0. The same bits for every number of threads.
template <class V> class block_conjugate_gradients {
public:
  /// b and x of `systems`: columns of n elements, all of which are finite and no b zero.
  block_conjugate_gradients(const linear_system<V>& systems, index_t columns, const solve_options& o)
      : systems_(systems), o_(o), n_(systems.a.shape().rows), columns_(static_cast<std::size_t>(columns)),
        limit_(o.max_iterations > 0 ? o.max_iterations : std::max<index_t>(10 * n_, 10000)) {
    for (index_t j = 0; j < columns; ++j) {
      column& c = at(j);
      c.norm_b = norm(b_of(j)), c.goal = std::max(o.rtol * c.norm_b, o.atol);
      const view<V> x = x_of(j);
      if (norm(x) > 0) c.first_x = std::vector<V>(x.begin(), x.end());
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
    }
    return reports;
  }

private:
  struct column {
    double norm_b = 0, goal = 0, first = -1, residual = 0;
    index_t iterations = 0, restarts = 0;
    std::vector<V> first_x; ///< empty: zeros
    double ratio_in_m = 0;  ///< r'M r over (x - x0)'M^-1 (x - x0), as far as the last start knows
    std::vector<double> history, history_seconds;
    std::optional<ending> end;
  };

  column& at(index_t j) { return columns_[static_cast<std::size_t>(j)]; }
  cview<V> b_of(index_t j) const { return {systems_.b.data + j * n_, n_}; }
  view<V> x_of(index_t j) const { return {systems_.x.data + j * n_, n_}; }
  double norm(cview<V> v) {
    double squares = 0;
    space_.dot(v, v, {&squares});
    return std::sqrt(squares);
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  /// Runs the columns that are left until they seem to be done; false where starting again would not help.
  template <int W> bool run_block() {
    const bool stored = systems_.m.what() == any_preconditioner<V>::kind::general;
    const double takes = block_step<V, W>::bytes(n_, stored), most = double(available_host_memory());
    check(takes <= most, fault::memory, "{} columns at once take {:.3g} GB more memory, of which {:.3g} GB can be had",
          active_.size(), takes * 1e-9, most * 1e-9);
    block_step<V, W> block(systems_, active_);
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
    for (const index_t j : active_) at(j).restarts += at(j).iterations > 0;
    block.start(lengths);
    return iterate(block);
  }

  /// The recomputed residuals of the columns at hand; false where one is not finite.
  bool look_at(const std::vector<double>& lengths) {
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      column& c = at(active_[k]);
      if (!std::isfinite(lengths[k])) return false;
      c.residual = lengths[k];
      if (c.first < 0) c.first = lengths[k], record(c);
    }
    return true;
  }
  double worst_ratio() {
    double worst = 0;
    for (const index_t j : active_)
      worst = std::max(worst, at(j).residual > at(j).goal ? at(j).residual / at(j).goal : 0);
    return worst;
  }
  void record(column& c) {
    if (!o_.history) return;
    c.history.push_back(c.residual / c.norm_b);
    c.history_seconds.push_back(seconds());
  }

  struct always {
    int before() const { return control::running; }
    int after() const { return control::running; }
  };

  template <int W> bool iterate(block_step<V, W>& block) {
    const double rr = last_worst_ * last_worst_;
    double slots[control::own_slot] = {rr, rr, double(steps_), 0, rr, control::running, double(steps_), rr}, ring[1];
    const control::until<always> until{slots,
                                       {ring, 1},
                                       {.goal = 1,
                                        .steps = double(limit_),
                                        .patience = double(std::max<index_t>(2 * n_, 5000)),
                                        .ceiling = rr * 1e40,
                                        .hump = std::numeric_limits<double>::infinity(),
                                        .outlook = double(o_.outlook)},
                                       {}};
    std::vector<double> residuals;
    int why = control::running;
    while (why == control::running) {
      why = block.step(residuals);
      if (why == control::running) why = count_step(block, residuals, slots, until);
      if (why == control::running && !block.advance()) why = zero_pivot;
      if (why == control::running && !goes_on()) break;
    }
    block.store();
    if (const auto values = block.ritz_values(); values.smallest > 0) {
      smallest_ = std::min(smallest_, values.smallest);
      largest_ = std::max(largest_, values.largest);
    }
    end_all(why, block.pivot());
    return why == control::small_enough;
  }

  /// Counts a step that took place; columns that are small enough leave.
  template <int W, class Until>
  int count_step(block_step<V, W>& block, const std::vector<double>& residuals, double* slots, const Until& until) {
    ++steps_;
    for (std::size_t k = 0; k < residuals.size(); ++k) {
      column& c = at(active_[k]);
      if (c.residual <= c.goal) continue;
      c.ratio_in_m = block.ratio_in_m(static_cast<int>(k)) * std::pow(residuals[k] / c.residual, 2);
      c.residual = residuals[k];
      ++c.iterations;
      record(c);
      if (!std::isfinite(c.residual)) return control::not_finite;
      if (c.residual <= c.goal) block.leave(static_cast<int>(k));
    }
    slots[control::rr] = std::pow(worst_ratio(), 2);
    until();
    return static_cast<int>(slots[control::why]);
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
  void end_all(int why, double pivot) {
    std::optional<ending> end;
    double slots[cg_scalars::slot_end] = {};
    slots[cg_scalars::pq] = pivot;
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
      host_array<V> r(n_);
      space_.copy(b_of(j), as_view(r));
      systems_.a.apply(V(-1), x, V(1), as_view(r));
      c.residual = norm(as_cview(r));
    };
    recompute();
    if (c.residual <= c.first || c.first < 0) return;
    if (c.first_x.empty()) std::fill(x.begin(), x.end(), V(0));
    else std::copy(c.first_x.begin(), c.first_x.end(), x.begin());
    recompute();
  }

  solve_report finish(index_t j) {
    column& c = at(j);
    if (c.iterations > 0 && !(c.residual <= c.goal)) hand_back_the_best(j);
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
    solve_report report = run_on_device<cg_method>(device{}, one, o);
    if (c.iterations == 0) return report;
    report.iterations += c.iterations;
    report.restarts += c.restarts;
    if (report.why == status::converged) {
      report.message = solver_messages::converged({.iterations = report.iterations});
      estimate(j, report);
    } else report.message = fmt::format("after {} iterations of the block: {}", c.iterations, report.message);
    return report;
  }

  /// As cg does, from the Ritz values of the block: |x - A^-1 b| / |x - x0| in M^-1, times |x - x0| / |x|.
  void estimate(index_t j, solve_report& report) const {
    const column& c = columns_[static_cast<std::size_t>(j)];
    if (!(largest_ > 0 && c.ratio_in_m > 0)) return;
    double moved = 0, size = 0;
    for (index_t i = 0; i < n_ && !c.first_x.empty(); ++i) {
      const double x = double(x_of(j)[i]);
      size += x * x, moved += std::pow(x - double(c.first_x[static_cast<std::size_t>(i)]), 2);
    }
    const double share = size > 0 ? std::sqrt(moved / size) : 1;
    report.condition_estimate = std::max(report.condition_estimate, largest_ / smallest_);
    report.error_estimate = std::max(report.error_estimate, share * std::sqrt(c.ratio_in_m) / smallest_);
    report.warning =
        solver_messages::inaccurate(report.error_estimate, report.condition_estimate, report.relative_residual);
  }

  /// The history of the block before that of the column.
  solve_report with_history(column& c, solve_report report) {
    if (c.iterations > 0) report.bytes_per_iteration = bytes_per_step_ / double(columns_.size());
    if (!o_.history || c.history.empty()) return report;
    const std::size_t known = std::min<std::size_t>(report.history.size(), 1);
    c.history.insert(c.history.end(), report.history.begin() + known, report.history.end());
    c.history_seconds.insert(c.history_seconds.end(), report.history_seconds.begin() + known,
                             report.history_seconds.end());
    report.history = std::move(c.history);
    report.history_seconds = std::move(c.history_seconds);
    return report;
  }

  const linear_system<V>& systems_;
  const solve_options& o_;
  cpu::space<V> space_;
  index_t n_;
  std::vector<column> columns_;
  std::vector<index_t> active_; ///< columns that are not done
  index_t limit_, steps_ = 0;
  double last_worst_ = std::numeric_limits<double>::infinity(), told_ = 0,
         smallest_ = std::numeric_limits<double>::infinity(), largest_ = 0, bytes_per_step_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

} // namespace furrow::block_cg
