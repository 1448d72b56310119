// SPDX-License-Identifier: BSD-3-Clause
#include "scatter_rows.hpp"
#include "show_x.hpp"
#include "state_on_ranks.hpp"

#include "core/clock.hpp"
#include "core/parameters.hpp"
#include "solve/run.hpp"
#include "solve/second_thoughts.hpp"
#include "solvers/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

} // namespace

/// |b - A x| / |b|, where A is there.
template <class V> double solver_on_ranks<V>::state::residual_of(cview<V> b, cview<V> x) const {
  if (!a) return not_known;
  host_array<V> r(b.size), guess(x.size);
  std::ranges::copy(b, r.begin());
  std::ranges::copy(x, guess.begin());
  if (gpu) {
    gpu_array<V> there(r);
    a->apply(V(-1), as_cview(gpu_array<V>(guess)), V(1), as_view(there));
    r = host_array<V>(there);
  } else {
    a->apply(V(-1), as_cview(guess), V(1), as_view(r));
  }
  double squares[] = {0, 0};
  for (const V v : r) squares[0] += double(v) * double(v);
  for (const V v : b) squares[1] += double(v) * double(v);
  c.sum({squares, 2});
  return std::sqrt(squares[0] / squares[1]);
}

/// The end of a solve that does not begin.
template <class V> std::optional<solve_report> solver_on_ranks<V>::state::before_solving(cview<V> b, view<V> x) const {
  if (refused && !a) return not_started(refused->why, refused->message);
  for (auto what : {not_finite(b, "b", mine.first), not_finite(as_cview(x), "the first guess", mine.first)})
    if (what = first_sentence(c, what); !what.empty()) return not_started(status::nan, what);
  if (!c.any(!std::ranges::all_of(b, [](V v) { return v == V(0); }))) {
    std::fill(x.begin(), x.end(), V(0));
    solve_report report = not_started(status::converged, "b is zero, so x is zero");
    report.relative_residual = 0;
    report.history = report.history_seconds = {0};
    return report;
  }
  if (!refused) return {};
  solve_report report = not_started(refused->why, refused->message);
  report.relative_residual = residual_of(b, as_cview(x));
  return report;
}

template <class V> solve_report solver_on_ranks<V>::state::run(cview<V> b, view<V> x, solve_options limits) const {
  const solver_entry& method = find_solver(rungs[at].solver);
  const double norm_2 = norm_for(method);
  if (limits.monitor)
    limits.monitor = [&](const progress& now, cview<double> mine) { return show_x_to_first(c, o.monitor, now, mine); };
  const linear_system<V> system{.a = *a,
                                .m = *m,
                                .b = b,
                                .x = x,
                                .norm_inf = rows.norm_inf,
                                .norm_2 = norm_2,
                                .longest_row = rows.longest_row,
                                .parameters = take_apart(rungs[at].solver).parameters,
                                .ranks = &c,
                                .unknowns = rows.unknowns,
                                .first_row = rows.first};
  solve_report report = run_on_host_vectors<V>(method, system, limits);
  find_the_cause(report, system, b, limits);
  report.solver = rungs[at].solver, report.precond = rungs[at].precond;
  return report;
}

template <class V>
solve_options solver_on_ranks<V>::state::limits_of(const rank_rung& rung, double seconds_left,
                                                   index_t iterations) const {
  solve_options limits = o;
  limits.time_limit = seconds_left;
  if (rung.outlook > 0) limits.outlook = rung.outlook;
  if (limits.max_iterations > 0) limits.max_iterations = std::max<index_t>(limits.max_iterations - iterations, 1);
  if (rung.most > 0)
    limits.max_iterations = limits.max_iterations > 0 ? std::min(limits.max_iterations, rung.most) : rung.most;
  return limits;
}

/// Whether another rung may be tried after one that ended so; by the first rank's clock.
template <class V> bool solver_on_ranks<V>::state::goes_on(status why, index_t iterations, double began) const {
  if (answers(why) || why == status::interrupted) return false;
  if (o.max_iterations > 0 && iterations >= o.max_iterations) return false;
  return c.of_first(now() - began <= o.time_limit && !(o.cancelled && o.cancelled())) != 0;
}

/// Other rungs follow where a method has shown what the matrix is.
template <class V> void solver_on_ranks<V>::state::turn(status why, const std::string& solver) {
  if (is_named()) return;
  const bool indefinite =
      why == status::not_positive_definite && !showed.indefinite && !showed.singular && known.symmetric;
  const bool singular = why == status::singular && !showed.singular;
  if (!(indefinite || singular)) return;
  (indefinite ? showed.indefinite : showed.singular) = true;
  rungs = rungs_now();
  std::erase_if(rungs, [&](const rank_rung& r) { return singular && r.solver == solver; });
  m.reset(), m_of = rungs.size(); // numbers of rungs are others
  at = std::size_t(-1);           // the first one is next
}

/// Sets the rung whose turn it is up, unless it stands. Whether it does then; otherwise `tried` says why not.
template <class V> bool solver_on_ranks<V>::state::stands(solve_rung& tried) {
  if (m && m_of == at) return true;
  const double began = now();
  const auto leave = [&](status why, std::string outcome) {
    m.reset();
    tried.why = why, tried.outcome = std::move(outcome), tried.relative_residual = not_known;
  };
  try {
    m.reset();
    set_up_preconditioner_again();
  } catch (const refusal& r) {
    leave(r.why, r.message);
  } catch (const error_of_all& e) {
    if (e.kind == fault::internal || is_named()) throw;
    leave(status::breakdown, e.what());
  }
  tried.setup_seconds = c.max(now() - began);
  return m != nullptr;
}

template <class V>
void solver_on_ranks<V>::state::doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& work,
                                      double began) {
  if (o.solver != "auto") return; // as of one rank: by what the method says itself
  const auto no_time = [&] { return now() - began > o.time_limit || (o.cancelled && o.cancelled()); };
  const typename doubt_on_ranks<V>::solve_for anew = [&](cview<V> of, view<V> y, double rtol, index_t most) {
    solve_options limits = o;
    limits.rtol = rtol, limits.atol = 0, limits.max_iterations = most, limits.outlook = 0;
    limits.time_limit = std::max(c.of_first(o.time_limit - (now() - began)), 0.0);
    limits.monitor = {}, limits.watch_every = 0, limits.history = false;
    limits.watch = [&](const progress&) { return !(o.cancelled && o.cancelled()); };
    return run(of, y, limits);
  };
  doubts.look(c, report, b, x, work, singular_by,
              {*a, rows.norm_inf, known, rows.first, anew, [this] { return rows_of_all_columns(); }, no_time, o});
}

template <class V>
solve_report solver_on_ranks<V>::state::climb_on_first(cview<V> b, view<V> x, double seconds_left, index_t iterations) {
  solve_options left = o;
  left.time_limit = std::max(seconds_left, 0.0);
  if (left.max_iterations > 0) left.max_iterations = std::max<index_t>(left.max_iterations - iterations, 1);
  solve_report report = first->solve(b, x, left);
  if (negated) report.matrix_about += "; -A x = -b is solved";
  return report;
}

/// What a climb has come to.
template <class V> struct solver_on_ranks<V>::state::climb_state {
  double began = 0;
  solve_report best = not_started(status::breakdown, "no method could be set up");
  std::vector<solve_rung> rungs;
  index_t iterations = 0;
  work_done work;
  double setup_seconds = 0, solve_seconds = 0;

  void add(solve_rung&& tried) {
    setup_seconds += tried.setup_seconds, solve_seconds += tried.solve_seconds;
    rungs.push_back(std::move(tried));
  }
  /// Rungs that the first rank need not climb again: those of a diagonal are the same there.
  climbed_before before() const {
    climbed_before all;
    all.work = work;
    for (const solve_rung& r : rungs)
      if (r.precond == "jacobi" || r.precond == "none") all.tried.emplace_back(r.solver, r.precond);
    return all;
  }
  solve_report end() {
    best.setup_seconds += setup_seconds, best.solve_seconds = solve_seconds;
    best.rungs = std::move(rungs);
    return std::move(best);
  }
};

/// One rung after the other until one of them answers; x, the best so far, goes along. Where the first rank has the
/// rows it climbs on alone.
template <class V> solve_report solver_on_ranks<V>::state::climb(cview<V> b, view<V> x, ranks_report& result) {
  climb_state s;
  s.began = now() - std::exchange(setup_spent, 0);
  deadline = s.began + o.time_limit;
  s.work.on_gpu = bool(gpu);
  const auto left = [&] { return std::max(c.of_first(o.time_limit - (now() - s.began)), 0.0); };
  for (; at < rungs.size(); ++at) {
    if (rungs[at].gathers) {
      if (!first && !gather_rows_on_first(s.before())) continue;
      result.gathered = gathered_because, result.rungs_together = index_t(s.rungs.size());
      solve_report report = climb_on_first(b, x, left(), s.iterations);
      for (solve_rung& r : report.rungs) s.rungs.push_back(std::move(r));
      s.solve_seconds += report.solve_seconds;
      s.best = std::move(report);
      return s.end();
    }
    const rank_rung rung = rungs[at];
    solve_rung tried{rung.solver, rung.precond, o.where, rung.reason, {}};
    if (stands(tried)) {
      s.best = run(b, x, limits_of(rung, left(), s.iterations));
      tried = rung_of(s.best, o.where, rung.reason, tried.setup_seconds);
      s.iterations += s.best.iterations;
      solve_report of_all = s.best;
      of_all.bytes_per_iteration = c.sum(of_all.bytes_per_iteration);
      of_all.precond = name_on_block(of_all.precond);
      s.work.add(of_all, known);
    } else if (s.rungs.empty() || std::isnan(s.best.relative_residual)) {
      s.best = not_started(tried.why, tried.outcome);
    }
    const status why = tried.why;
    if (why == status::singular) singular_by = rung.solver + " with " + rung.precond;
    s.add(std::move(tried));
    if (!goes_on(why, s.iterations, s.began)) break;
    turn(why, rung.solver);
  }
  at = std::min(at, rungs.size() - 1);
  if (std::isnan(s.best.relative_residual) && s.best.why != status::interrupted)
    s.best.relative_residual = residual_of(b, as_cview(x));
  const bool answered = answers(s.best.why) || s.best.why == status::interrupted;
  if (!answered && c.of_first(o.cancelled && o.cancelled()) != 0) {
    s.best.why = status::interrupted;
    s.best.message = "interrupted before the next method; " + s.best.message;
  }
  if (answers(s.best.why)) {
    kept.reset();
    const double since = now();
    doubt(s.best, b, as_cview(x), s.work, s.began);
    s.solve_seconds += now() - since;
  } else if (!not_gathered.empty()) {
    s.best.message += "; " + not_gathered;
  }
  result.rungs_together = index_t(s.rungs.size());
  return s.end();
}

template <class V> std::string solver_on_ranks<V>::state::matrix_about() const {
  return furrow::describe(known) + (negated ? "; -A x = -b is solved" : "");
}

/// With what is known of the operator; numbers of bytes are those of all ranks.
template <class V> void solver_on_ranks<V>::state::describe(solve_report& report) const {
  report.setup_seconds += c.max(mine.setup_seconds);
  if (first) return; // its ladder has said all of it
  report.setup_parts = parts_of_slowest(c, mine.setup_seconds, setup_parts);
  const bool known_rung = !rungs.empty() && !rungs[at].gathers;
  if (report.solver.empty() && known_rung) report.solver = rungs[at].solver, report.precond = rungs[at].precond;
  if (!is_named())
    for (std::size_t k = at + 1; k < rungs.size(); ++k)
      report.untried.push_back(rungs[k].gathers ? "all rows on the first rank"
                                                : rungs[k].solver + " with " + rungs[k].precond);
  if (!a) return;
  const double vectors =
      known_rung ? double(2 + find_solver(rungs[at].solver).vectors(take_apart(rungs[at].solver).parameters)) : 0;
  const double stored =
      a->stored_bytes() + (m ? m->stored_bytes() : 0) + double(sizeof(V)) * double(mine.rows) * vectors;
  double bytes[] = {report.bytes_per_iteration, a->bytes_per_apply(), stored};
  c.sum({bytes, 3});
  report.bytes_per_iteration = bytes[0], report.product_bytes = bytes[1], report.stored_bytes = bytes[2];
  if (chosen.format) // this rank has rows
    report.format = name_of(chosen), report.kernel = a->kernel(), report.reason = chosen.reason;
  if (m) report.levels = m->levels();
  if (m && lies_across_ranks(report.precond)) report.precond_about = m->describe();
  if (report.precond.starts_with("local:"))
    report.precond_about = fmt::format("{} of the block of each of {} ranks", name_on_block(report.precond), c.size());
  report.matrix_about = matrix_about();
}

template <class V> ranks_report solver_on_ranks<V>::state::solve(cview<V> b, view<V> x) {
  together(c, [&] { check_part_of_system(mine.rows, b, x); });
  const auto here = enter();
  const double began = now(), waited = (a ? a->waited() : 0) + (first ? first->waited() : 0);
  ranks_report result;
  host_array<V> minus_b;
  if (negated) {
    together(c, [&] { minus_b = host_array<V>(b.size); });
    std::ranges::transform(b, minus_b.begin(), [](V v) { return -v; });
    b = as_cview(minus_b);
  }
  if (auto early = before_solving(b, x)) result.report = std::move(*early);
  else result.report = climb(b, x, result);
  accept_first_guess(result.report, o.rtol);
  if (o.solver != "auto") result.report.rungs.clear();
  if (gpu) gpu->check();
  describe(result.report);
  rank_part part = mine;
  part.solve_seconds = now() - began, part.where = o.where;
  if (gpu) result.way = gpu->way();
  const double waits = (a ? a->waited() : 0) + (first ? first->waited() : 0);
  part.waiting_seconds = std::max(waits - waited, 0.0); // an operator that is gone takes its own along
  result.parts = gather_each(c, part);
  return result;
}

template struct solver_on_ranks<double>::state;
template struct solver_on_ranks<float>::state;

} // namespace furrow
