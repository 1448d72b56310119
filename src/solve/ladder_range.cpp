// SPDX-License-Identifier: BSD-3-Clause
// Right-hand sides that a ladder cannot reach: what entries of A show to be normal to its range, and least squares by
// other methods than those of least squares.
#include "ladder.hpp"
#include "run.hpp"

#include "core/clock.hpp"
#include "core/counted.hpp"
#include "preconditioners/stop.hpp"
#include "solvers/bidiagonal.hpp"
#include "solvers/exact_residual.hpp"

#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// Also where squares leave the range.
template <class V> double norm_of(const V& v) {
  double size = 0, squares = 0;
  for (const auto e : v) size = std::max(size, std::abs(double(e)));
  for (const auto e : v) squares += double(e) / size * (double(e) / size);
  return size > 0 ? size * std::sqrt(squares) : 0;
}

/// |A'r| / (|A| |r|), with |A| from below as least squares have it. Of A beside its largest entry and of r beside its
/// norm: products of three numbers far from 1 would leave the range.
template <class V> double normal_residual(const coo<V>& a, const host_array<V>& r) {
  std::vector<double> normal(static_cast<std::size_t>(a.shape.cols), 0.0);
  std::vector<double> image(static_cast<std::size_t>(a.shape.rows), 0.0);
  const double of_r = norm_of(r);
  double largest = 0;
  for (const V v : a.val) largest = std::max(largest, std::abs(double(v)));
  if (of_r == 0 || largest == 0) return 0;
  for (index_t k = 0; k < a.nnz(); ++k) normal[a.col[k]] += double(a.val[k]) / largest * (double(r[a.row[k]]) / of_r);
  for (index_t k = 0; k < a.nnz(); ++k) image[a.row[k]] += double(a.val[k]) / largest * normal[a.col[k]];
  const double of_normal = norm_of(normal);
  if (of_normal == 0) return 0;
  return of_normal / std::max(norm_of(image) / of_normal, of_normal);
}

/// The steps of `more`, which went on behind those of `report`.
void append(solve_report& report, const solve_report& more) {
  for (std::size_t k = 1; k < more.history.size(); ++k) {
    report.history.push_back(more.history[k]);
    report.history_seconds.push_back(report.solve_seconds + more.history_seconds[k]);
  }
  report.iterations += more.iterations, report.restarts += more.restarts, report.waits += more.waits;
  report.solve_seconds += more.solve_seconds;
  report.relative_residual = more.relative_residual;
}

} // namespace

/// Residuals of the part in the range, as such of b: the other part stays.
template <class V> void ladder<V>::aim::tell_of_b(solve_report& report) const {
  const auto of_b = [&](double& r) { r = std::hypot(outside, r * inside) / std::hypot(outside, inside); };
  of_b(report.relative_residual);
  std::ranges::for_each(report.history, of_b);
  if (!answers(report.why) && !report.message.empty())
    report.message +=
        fmt::format("; that is of the part of b in the range of A: of all of b it is {:.3e}", report.relative_residual);
}

/// Splits b where the entries of A show a part of it that no A x has, and that is above the goal. Looks at the entries
/// once for all right-hand sides. Whether it has.
template <class V> bool ladder<V>::split(aim& to) {
  if (std::exchange(to.asked, true) || !system_.known.square()) return false;
  if (!balanced_) balanced_ = balanced_rows_of(*system_.a().to_triplets());
  if (balanced_->none()) return false;
  host_array<V> part(to.b.size);
  std::ranges::copy(to.b, part.begin());
  to.outside = take_means_out(*balanced_, as_view(part));
  to.inside = norm_of(part);
  constexpr double rounding = 16 * std::numeric_limits<V>::epsilon();
  const double size = std::hypot(to.inside, to.outside);
  if (!(to.outside > std::max({system_.options.rtol * size, system_.options.atol, rounding * size}))) return false;
  if (!(to.inside > rounding * size)) return false; // x = 0 is the answer, which least squares see at once
  to.in_range = std::move(part);
  split_ = true;
  if (singular_by_.empty()) singular_by_ = maps_ones_to_zero() ? of_row_sums : of_column_sums;
  return true;
}

template <class V> bool ladder<V>::splits(cview<V> b) {
  aim to{b};
  const bool does = may_split() && split(to);
  split_ = false; // not yet
  return does;
}

/// Whether entries are known to show something, or a product with ones says that they will. Complete factors, which ask
/// for no product, say by themselves that A is singular.
template <class V> bool ladder<V>::may_split() {
  if (balanced_) return !balanced_->none();
  return system_.known.square() && plans_[at_].solver != "direct" && maps_ones_to_zero();
}

/// Of an x whose residual within the range of A is small beside b: makes it small beside what b has outside of it, by
/// the same method, and says of x that it is the nearest one where that is so, recomputed for b itself. Where it is
/// not, the report says so and is no answer.
template <class V> void ladder<V>::settle_nearest(solve_report& report, const aim& to, view<V> x, const effort& spent) {
  constexpr index_t patience = 10; // times the steps that a goal beside b took
  const double goal = system_.options.rtol * to.outside;
  index_t most = patience * std::max(report.iterations, patience);
  if (const index_t limit = system_.options.max_iterations; limit > 0)
    most = std::min(most, limit - spent.iterations - report.iterations);
  if (report.relative_residual * to.inside > goal && most > 0) {
    solve_options o = kept_->options;
    o.rtol = std::max(goal / to.inside, double(std::numeric_limits<V>::epsilon())), o.atol = 0;
    o.max_iterations = most, o.outlook = 0;
    o.time_limit = std::max(system_.deadline - now(), 0.0);
    kept_->method.set_limits(o);
    const solve_report more = kept_->method.solve(to.target(), x);
    append(report, more);
    if (more.why == status::interrupted) report.why = more.why, report.message = more.message;
  }
  to.tell_of_b(report);
  if (report.why == status::converged) judge(report, to.b, as_cview(x));
  if (report.why == status::stagnated && report.solver == "direct")
    report.why = status::max_iterations; // others follow
}

/// Puts the verdict on an x, by its residual worked out anew, into the report.
template <class V> void ladder<V>::judge(solve_report& report, cview<V> b, cview<V> x) const {
  const auto exact = residual_beyond_rounding<V>(system_.a(), b, x);
  if (!exact) {
    report.why = status::max_iterations;
    report.message = "left: no memory is free to tell whether x minimises |b - A x|";
    return;
  }
  const solve_options& o = system_.options;
  const double norm_b = norm_of(b), norm_r = norm_of(exact->r), unit = std::numeric_limits<V>::epsilon();
  const double ratio = normal_residual(*system_.a().to_triplets(), exact->r);
  const double rounding = rounding_of_residual<V>(system_.facts.row_max, system_.norm_2 * norm_of(x) + norm_b);
  const solver_messages::standing standing{.iterations = report.iterations, .relative = norm_r / norm_b};
  report.relative_residual = standing.relative;
  if (norm_r <= std::max(o.rtol * norm_b, o.atol)) {
    report.why = status::converged;
    report.message = solver_messages::converged(standing);
    return;
  }
  report.normal_residual = ratio;
  const bool by_goal = ratio <= std::max(o.rtol, unit);
  if (by_goal || is_normal_up_to_rounding(ratio, rounding, norm_r)) {
    report.why = status::least_squares;
    report.message = bidiagonal_messages::least_squares(ratio, 0, !by_goal).sentence(standing);
    return;
  }
  report.why = status::stagnated;
  report.message =
      fmt::format("b is not in the range of A, and x does not minimise |b - A x|: |A'r| / (|A| |r|) is "
                  "{:.1e}, and the relative residual {:.3e}, after {}{}",
                  ratio, standing.relative, counted(report.iterations, "iteration"), is_wide<V> ? "" : "; use f64");
}

/// Where a method says of the best x that something is not positive definite, and M was not named, that is of M or of
/// rounding, unless a diagonal was M and the limits let nothing follow.
template <class V> void ladder<V>::put_right(solve_report& best, bool exhausted) const {
  const bool of_a = best.precond == "jacobi" || best.precond == "none";
  if (system_.options.precond != "auto" || (of_a && !exhausted)) return;
  best.why = singular_ ? status::singular : status::stagnated;
  const std::string of_matrix =
      singular_ ? fmt::format("the matrix is singular to working precision, as {} found, and ", singular_by_) : "";
  best.message =
      fmt::format("{}no method brought the relative residual below {:.3e}, where rounding ended {} with {}, "
                  "behind {}",
                  of_matrix, best.relative_residual, best.solver, best.precond, counted(best.iterations, "iteration"));
}

/// By complete factors of a system that is larger, whose x is the least-squares answer. x stays where it is none.
template <class V>
solve_report ladder<V>::solve_augmented(const rung_plan& plan, cview<V> b, view<V> x, const solve_options& rest) {
  solve_report report;
  try {
    const bounds_operations bound(plan.operations);
    if (!augmented_) augmented_.emplace(*system_.a().to_triplets(), rest);
    host_array<V> found(x.size, V(0));
    report = augmented_->solve(b, as_view(found), rest);
    report.condition_estimate = report.error_estimate = 0, report.warning.clear(); // of the larger system
    if (report.iterations == 0) {                                                  // no factors
      report.relative_residual = std::numeric_limits<double>::quiet_NaN();
    } else if (report.why != status::interrupted) {
      judge(report, b, as_cview(found));
      if (answers(report.why)) std::ranges::copy(found, x.begin());
    }
  } catch (const error& e) { // memory, or a build without sparse factors
    if (e.kind == fault::internal) throw;
    report = not_started(status::breakdown, e.what());
  }
  if (!answers(report.why) && report.why != status::interrupted && report.why != status::max_iterations)
    report.why = status::breakdown; // of the larger system, and lsmr follows
  report.solver = plan.solver, report.precond = plan.precond;
  return report;
}

template struct ladder<double>::aim;
template struct ladder<float>::aim;
template bool ladder<double>::split(aim&);
template bool ladder<float>::split(aim&);
template bool ladder<double>::splits(cview<double>);
template bool ladder<float>::splits(cview<float>);
template bool ladder<double>::may_split();
template bool ladder<float>::may_split();
template void ladder<double>::settle_nearest(solve_report&, const aim&, view<double>, const effort&);
template void ladder<float>::settle_nearest(solve_report&, const aim&, view<float>, const effort&);
template void ladder<double>::judge(solve_report&, cview<double>, cview<double>) const;
template void ladder<float>::judge(solve_report&, cview<float>, cview<float>) const;
template void ladder<double>::put_right(solve_report&, bool) const;
template void ladder<float>::put_right(solve_report&, bool) const;
template solve_report ladder<double>::solve_augmented(const rung_plan&, cview<double>, view<double>,
                                                      const solve_options&);
template solve_report ladder<float>::solve_augmented(const rung_plan&, cview<float>, view<float>, const solve_options&);

} // namespace furrow
