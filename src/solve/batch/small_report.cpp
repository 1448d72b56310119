// SPDX-License-Identifier: BSD-3-Clause
#include "small_report.hpp"

#include "solvers/cg/messages.hpp"
#include "solvers/ending.hpp"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace bicgstab_messages {
std::optional<ending> explain(int verdict, const double* slots, bool patient);
}

namespace small_systems {
namespace {

ending ending_of(const state& s, method by, stopped_by who) {
  switch (s.why) {
  case end::converged:
    return {status::converged, solver_messages::converged};
  case end::not_finite:
    return {status::nan, solver_messages::residual_not_finite};
  case end::limit:
    return {status::max_iterations, solver_messages::limit};
  case end::grown:
    return {status::diverged, solver_messages::grown};
  case end::too_slow:
    return {status::max_iterations, solver_messages::too_slow};
  case end::stagnated:
    return {status::stagnated, solver_messages::stagnated};
  case end::by_the_method: {
    auto own = by == method::cg ? cg_messages::explain(s.own_verdict, s.slot, false)
                                : bicgstab_messages::explain(s.own_verdict, s.slot, false);
    require(own.has_value(), "a verdict of a method has its sentence");
    return std::move(*own);
  }
  default:
    require(s.why == end::stopped && who != stopped_by::nobody, "the system is not done");
    if (who == stopped_by::clock) return {status::max_iterations, solver_messages::out_of_time};
    return {status::interrupted, solver_messages::interrupted};
  }
}

double eighth_root(double v) { return std::pow(v, 1.0 / 8); }

/// |x - A^-1 b| / |x| by what x has moved since the one kept before it, or since the first guess: `iteration`.
double error_by_progress(const state& s) {
  if (s.has_best) return s.residual < s.best ? eighth_root(s.moved_since_best) * s.residual / s.best : 0;
  return s.has_first && s.residual < s.first ? eighth_root(s.moved_since_first) * s.residual / s.first : 0;
}

/// `conjugate_gradients::estimate`.
void estimate(solve_report& report, const state& s, const ritz_matrix& ritz) {
  using namespace cg_scalars;
  const auto [smallest, largest] = ritz.eigenvalues();
  if (!(smallest > 0 && s.slot[farthest] > 0 && s.slot[control::rr] > 0)) return;
  report.smallest_ritz = smallest, report.largest_ritz = largest;
  report.condition_estimate = largest / smallest;
  const double r_squares = s.slot[rz_next] * (s.residual * s.residual / s.slot[control::rr]);
  const double moved = s.has_first ? eighth_root(s.moved_since_first) : 1;
  report.error_estimate = std::max(report.error_estimate, std::sqrt(r_squares / s.slot[farthest]) / smallest * moved);
}

/// Vectors that the passes of an iteration read and write: those of the methods.
double vectors_an_iteration(method by, bool diagonal) {
  return by == method::cg ? (diagonal ? 4 + 6 : 3 + 5) : 2 + 3 + 2 + 7 + 4 + (diagonal ? 5 : 0);
}

template <class V> void describe_work(solve_report& report, const candidate<V>& c, bool diagonal) {
  const double rows = double(c.given.about.rows), entries = double(c.given.about.entries), value = sizeof(V);
  report.product_bytes = (value + 2) * entries + (4 + 2 * value) * rows;
  const int products = c.by == method::cg ? 1 : 2;
  report.bytes_per_iteration = products * report.product_bytes + vectors_an_iteration(c.by, diagonal) * value * rows;
  report.stored_bytes = device_bytes<V>(c.given.about.rows, c.given.about.entries, diagonal);
}

/// What ran, and what "auto" would have tried next.
template <class V> void describe_choice(solve_report& report, const candidate<V>& c, const solve_options& o) {
  report.solver = name_of(c.by), report.precond = scales_rows(o) ? "jacobi" : "none";
  report.format = "csr", report.kernel = "batch";
  report.reason = "small enough for a block of threads, in one launch with others";
  if (!c.found) return;
  report.matrix_about = describe(*c.found);
  if (c.given.negated) report.matrix_about += "; -A x = -b is solved";
  for (std::size_t k = 1; k < c.plans.size(); ++k)
    report.untried.push_back(c.plans[k].solver + " with " + c.plans[k].precond);
  report.rungs.push_back({report.solver, report.precond, o.where, c.plans.front().reason, report.message, report.why,
                          report.iterations, report.relative_residual});
}

} // namespace

void course::follow(const state& s, const record* records, index_t stride, double before, double seconds,
                    bool keeps_history) {
  const double scale = s.norm_b > 0 ? s.norm_b : 1;
  if (launches++ == 0 && keeps_history) history.push_back(s.first / scale), history_seconds.push_back(before);
  const double each = (seconds - before) / std::max(1, int(s.recorded));
  for (std::int32_t n = 0; n < s.recorded; ++n) {
    const record& r = records[n * stride];
    if (std::signbit(r.norm)) ritz.start_again();
    if (r.alpha > 0) ritz.add(r.alpha, r.beta);
    if (!keeps_history) continue;
    history.push_back(std::abs(r.norm) / scale), history_seconds.push_back(before + each * (n + 1));
  }
}

template <class V>
solve_report report_of(const candidate<V>& c, const state& s, course&& seen, stopped_by who, const solve_options& o) {
  const ending e = ending_of(s, c.by, who);
  solve_report report;
  report.why = e.why;
  report.iterations = static_cast<index_t>(s.iterations), report.restarts = s.restarts;
  report.waits = seen.launches;
  report.relative_residual = s.norm_b > 0 ? s.residual / s.norm_b : s.residual;
  const double first = s.norm_b > 0 ? s.first / s.norm_b : s.first;
  double floor = 0;
  if (e.why == status::stagnated && s.residual <= s.goal) {
    const facts& f = c.given.about;
    const double unit = double(epsilon_of<V>) / 2;
    floor = (double(f.longest_row) + 3) * unit * (f.norm_2 * s.norm_x + s.norm_b) / s.norm_b;
  }
  report.message = e.sentence(
      {report.iterations, report.restarts, report.relative_residual, first, floor, scales_rows(o), !is_wide<V>});
  if (report.why == status::not_positive_definite && c.opposite)
    report.message += "; its diagonal is negative: solve -A x = -b";
  if (report.why == status::converged && report.iterations > 0) {
    report.error_estimate = error_by_progress(s);
    if (c.by == method::cg && report.iterations > 1) estimate(report, s, seen.ritz);
  }
  report.warning =
      solver_messages::inaccurate(report.error_estimate, report.condition_estimate, report.relative_residual);
  report.history = std::move(seen.history), report.history_seconds = std::move(seen.history_seconds);
  describe_work(report, c, scales_rows(o));
  describe_choice(report, c, o);
  return report;
}

template <class V> solve_report report_of_zero(const candidate<V>& c, const solve_options& o) {
  solve_report report;
  report.why = status::converged;
  report.message = "b is zero, so x is zero";
  report.relative_residual = 0;
  report.history = report.history_seconds = {0};
  describe_choice(report, c, o);
  return report;
}

template <class V> bool is_final(const candidate<V>& c, const state& s, const solve_options& o) {
  // Whether A p is 0 where p'Ap is, a solve by itself can tell.
  if (c.by == method::cg && s.why == end::by_the_method && s.own_verdict == cg_scalars::zero_pq) return false;
  if (!c.found || s.why == end::converged || s.why == end::stopped) return true;
  return s.why == end::limit && o.max_iterations > 0;
}

#define FURROW_REPORTS(V)                                                                                              \
  template solve_report report_of(const candidate<V>&, const state&, course&&, stopped_by, const solve_options&);      \
  template solve_report report_of_zero(const candidate<V>&, const solve_options&);                                     \
  template bool is_final(const candidate<V>&, const state&, const solve_options&);
FURROW_REPORTS(double)
FURROW_REPORTS(float)
#undef FURROW_REPORTS

} // namespace small_systems
} // namespace furrow
