// SPDX-License-Identifier: BSD-3-Clause
#include "ladder.hpp"

#include "coordinates.hpp"
#include "run.hpp"

#include "core/clock.hpp"
#include "core/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow {
namespace {

bool fits_on_chip(std::string_view method, const stats& s, precision p, device where) {
  return where.is_gpu() && has_solver(method) && find_solver(method).set_up.may_serve(s, p, where);
}

} // namespace

inventory inventory_of(device where, const stats& s, precision p) {
  return {has_solver,
          has_preconditioner,
          where.is_gpu(),
          [](std::string_view precond) { return find_preconditioner(precond).on_gpu; },
          [](std::string_view precond) { return find_preconditioner(precond).by_levels; },
          varies,
          suits,
          fits_on_chip("cg_resident", s, p, where),
          fits_on_chip("bicgstab_resident", s, p, where)};
}

solve_rung rung_of(const solve_report& r, device where, std::string reason, double setup) {
  return {r.solver,     r.precond,           where, std::move(reason), r.message, r.why,
          r.iterations, r.relative_residual, setup, r.solve_seconds};
}

template <class V>
ladder<V>::ladder(matrix_source<V> a, const solve_options& o, setup_clock& clock,
                  std::shared_ptr<const diagonal_scales<V>> around_m, climbed_before before)
    : system_(o, std::move(around_m)) {
  const double began = now();
  system_.deadline = began + o.time_limit;
  prepare(std::move(a), clock, std::move(before));
  setup_spent_ = now() - began;
}
template <class V> ladder<V>::~ladder() = default;

template <class V> void ladder<V>::set_limits(const solve_options& o) {
  system_.options.rtol = o.rtol, system_.options.atol = o.atol;
  system_.options.max_iterations = o.max_iterations, system_.options.time_limit = o.time_limit;
  for (auto* const attempt : {kept_.get(), aside_.get()}) {
    if (!attempt) continue;
    attempt->options.rtol = o.rtol, attempt->options.atol = o.atol;
    attempt->options.max_iterations = o.max_iterations;
  }
}

template <class V> double ladder<V>::begin_solve(double seconds_before) {
  const double began = now() - seconds_before - std::exchange(setup_spent_, 0);
  system_.deadline = began + system_.options.time_limit;
  return began;
}

/// The rungs that follow where others have been left already; all of them where none would.
template <class V> void ladder<V>::go_on_behind(climbed_before before, const inventory& there) {
  before_ = before.work;
  singular_by_ = std::move(before.singular_by);
  singular_ = !singular_by_.empty();
  indefinite_ = before.indefinite;
  if (singular_) plans_ = rungs_for_singular(system_.known, there, indefinite_);
  else if (indefinite_) plans_ = rungs_for_indefinite(system_.known, there);
  std::vector<rung_plan> rest = plans_;
  std::erase_if(rest, [&](const rung_plan& p) {
    return p.outlook > 0 && std::ranges::count(before.tried, std::pair(p.solver, p.precond)) > 0;
  });
  if (!rest.empty()) plans_ = std::move(rest);
}

template <class V> inventory ladder<V>::what_there_is() const {
  inventory there = inventory_of(system_.options.where, system_.facts, precision_of<V>);
  there.runs_on_gpu = [this, free = std::optional<double>()](std::string_view precond) mutable {
    return system_.has_room_on_gpu(precond, free);
  };
  return there;
}

template <class V> void ladder<V>::prepare(matrix_source<V> a, setup_clock& clock, climbed_before before) {
  const solve_options& o = system_.options;
  const auto factors_first = [&](const features& f) {
    return o.precond == "auto" && rungs_for(f, what_there_is()).front().solver == "direct";
  };
  if ((refused_ = system_.look(a, clock, factors_first))) return;
  const inventory there = what_there_is();
  if (o.precond == "auto") {
    plans_ = rungs_for(system_.known, there);
    go_on_behind(std::move(before), there);
  } else {
    find_preconditioner(o.precond).lay_out(system_.facts, precision_of<V>, take_apart(o.precond).parameters); // throws
    plans_ = rungs_with(o.precond, system_.known, there);
  }
  if ((refused_ = interruption(o))) return;
  // From what is stored the triplets take three times as long as the look.
  if (may_have_singular_part(system_.known) && !a.has_rows() && plans_.front().solver != "direct")
    balanced_ = balanced_rows_of(a.triplets());
  system_.store(std::move(a), plans_.front(), clock);
}

template <class V> bool ladder<V>::stands(rung_plan& plan, solve_rung& tried) {
  if (kept_ && kept_->is_of(plan)) return true;
  if (aside_ && aside_->is_of(plan)) {
    std::swap(kept_, aside_);
    return true;
  }
  // Of few rows the factors take 100 MB at most.
  if (kept_ && kept_->plan.solver == "direct" && system_.facts.shape.rows <= few_rows) aside_ = std::move(kept_);
  kept_ = system_.set_up(plan, tried);
  return kept_ != nullptr;
}

/// Other rungs follow where a method has shown what the matrix is.
template <class V> void ladder<V>::turn(status why, const std::string& solver, const std::vector<solve_rung>& tried) {
  if (has_factored(solver)) forget(solver);
  const std::string& precond = system_.options.precond;
  const bool indefinite = why == status::not_positive_definite && !indefinite_ && !singular_ && system_.known.symmetric;
  const bool singular = why == status::singular && !singular_;
  const bool named = precond != "auto"; // it stays, where least squares can have it
  if (!(indefinite || singular)) return;
  if (named && !(singular && find_preconditioner(precond).rectangular)) return;
  (indefinite ? indefinite_ : singular_) = true;
  const inventory there = what_there_is();
  if (named) plans_ = {{"lsmr", precond, "found to be singular: the least-squares answer", 0}};
  else if (indefinite) plans_ = rungs_for_indefinite(system_.known, there);
  else plans_ = rungs_for_singular(system_.known, there, indefinite_);
  std::erase_if(plans_, [&](const rung_plan& p) { // what is too dear stays so
    return p.is_bounded() && std::ranges::find(tried, p.solver, &solve_rung::solver) != tried.end();
  });
  at_ = std::size_t(-1); // the first one is next
  better_.reset(), answered_at_.reset(), aside_.reset();
  if (singular) forget(solver); // the method that has just failed is not tried again
}

template <class V> void ladder<V>::forget(const std::string& solver) {
  const auto next = plans_.begin() + static_cast<std::ptrdiff_t>(at_ + 1);
  plans_.erase(std::remove_if(next, plans_.end(), [&](const rung_plan& p) { return p.solver == solver; }),
               plans_.end());
}

template <class V> solve_report ladder<V>::solve(cview<V> b, view<V> x, const effort& spent) {
  solve_report report;
  if (refused_) {
    report = not_started(refused_->why, refused_->message);
  } else if (auto wrong_b = not_finite(b, "b"); !wrong_b.empty()) {
    report = not_started(status::nan, wrong_b);
  } else if (auto wrong_x = not_finite(as_cview(x), "the first guess"); !wrong_x.empty()) {
    report = not_started(status::nan, wrong_x);
  } else if (system_.negated) {
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
  if (!refused_) {
    report.matrix_about = describe(system_.known);
    if (system_.negated) report.matrix_about += "; -A x = -b is solved";
    if (split_) report.matrix_about += "; what b has outside of the range, as sums over columns show it, is left out";
    for (std::size_t k = at_ + 1; k < plans_.size(); ++k)
      report.untried.push_back(plans_[k].solver + " with " + plans_[k].precond);
  }
  if (system_.chosen.format) report.format = name_of(system_.chosen);
  report.kernel = system_.is_stored() ? system_.a().kernel() : system_.chosen.kernel;
  report.reason = system_.chosen.reason;
}

template class ladder<double>;
template class ladder<float>;

} // namespace furrow
