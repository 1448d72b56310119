// SPDX-License-Identifier: BSD-3-Clause
// What a ladder does about answers whose error their method cannot tell.
#include "ladder.hpp"

#include "coordinates.hpp"
#include "largest.hpp"
#include "random_b.hpp"
#include "run.hpp"

#include "core/clock.hpp"
#include "preconditioners/stop.hpp"
#include "solvers/exact_residual.hpp"

#include <algorithm>
#include <utility>

namespace furrow {
namespace {

struct unseen_while_this_lives {
  explicit unseen_while_this_lives(bool& unseen) : unseen_(unseen) { unseen_ = true; }
  unseen_while_this_lives(const unseen_while_this_lives&) = delete;
  ~unseen_while_this_lives() { unseen_ = false; }

private:
  bool& unseen_;
};

} // namespace

/// Complete factors for what they say of answers.
template <class V> void ladder<V>::look_by_complete_factors(double operations) {
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (now() <= system_.deadline && !(system_.options.cancelled && system_.options.cancelled())) return {};
    return refusal{status::interrupted, "no time is left to estimate the error"};
  });
  system_.announce_more({"direct", "lu", {}},
                        lay_out_preconditioner("lu", system_.facts, precision_of<V>, system_.options), false);
  by_factors_ = factor_look<V>::at(std::move(*system_.a().to_triplets()), operations);
}

/// |A^+ (b - A x)| / |x| in largest elements, of more rows than columns: how far x is from the one of least |b - A x|.
/// Empty, and not known: the factors take more than that, or A has no full rank, or they give no answer.
template <class V> std::optional<double> ladder<V>::error_by_augmented(cview<V> b, cview<V> x, double operations) {
  const auto exact = residual_beyond_rounding<V>(system_.a(), b, x);
  if (!exact) return {};
  solve_options o = system_.options;
  o.max_iterations = 0, o.time_limit = std::max(system_.deadline - now(), 0.0);
  const bool stood = augmented_.has_value();
  try {
    const bounds_operations bound(operations);
    if (!stood) augmented_.emplace(*system_.a().to_triplets(), o);
    host_array<V> off(x.size, V(0));
    const solve_report r = augmented_->solve(as_cview(exact->r), as_view(off), o);
    if (r.why == status::singular) singular_by_ = "a complete factorisation";
    if (r.iterations > 0 && (r.why == status::converged || r.why == status::stagnated))
      return largest_element(as_cview(off)) / largest_element(x);
  } catch (const error& e) { // memory, or a build without sparse factors
    if (e.kind == fault::internal) throw;
  }
  if (!stood) augmented_.reset();
  return {};
}

/// Asked once.
template <class V> bool ladder<V>::maps_ones_to_zero() {
  if (system_.known.zero_sums < system_.known.rows) return false;
  if (!ones_to_zero_)
    ones_to_zero_ = adds_up_to_zero<V>(largest_row_sum(system_.a()), system_.facts.norm_inf, system_.known,
                                       [&] { return each_row_adds_up_to_zero(*system_.a().to_triplets()); });
  return *ones_to_zero_;
}

/// Asked once.
template <class V> bool ladder<V>::has_singular_part() {
  if (!may_have_singular_part(system_.known)) return false;
  if (!balanced_) balanced_ = balanced_rows_of(*system_.a().to_triplets());
  return !balanced_->none();
}

/// By the method that stands. Nobody is told of its iterations but `w`.
template <class V> solve_report ladder<V>::solve_anew(cview<V> b, view<V> y, double rtol, index_t most, work_done& w) {
  solve_options o = kept_->options;
  o.rtol = rtol, o.atol = 0, o.max_iterations = most, o.outlook = 0;
  o.time_limit = std::max(system_.deadline - now(), 0.0);
  kept_->method.set_limits(o);
  const unseen_while_this_lives unseen(*kept_->unseen);
  auto report = kept_->method.solve(b, y);
  w.add_start(report);
  return report;
}

template <class V> std::optional<double> ladder<V>::ask_at_random(const solve_report& r, index_t size, work_done& w) {
  const cview<V> m = kept_->m->diagonal();
  const auto solve_in = [&](auto b, auto y, auto begin, double rtol, index_t most) {
    begin(as_view(b), as_view(y));
    return solve_anew(as_cview(b), as_view(y), std::max(rtol, least_goal<V>), most, w);
  };
  return error_by_random_b(shown_, r, system_.known, !m.empty(), [&](double rtol, index_t most) {
    if (!kept_->options.where.is_gpu())
      return solve_in(
          host_array<V>(size), host_array<V>(size), [&](view<V> b, view<V> y) { begin_at_random<V>(b, y, m); }, rtol,
          most);
    return solve_in(
        gpu_array<V>(size), gpu_array<V>(size), [&](view<V> b, view<V> y) { begin_at_random_on_gpu<V>(b, y, m); }, rtol,
        most);
  });
}

template <class V>
std::optional<double> ladder<V>::start_again(const solve_report& r, cview<V> b, cview<V> x, work_done& w) {
  const solve_from<V> from = [&](view<V> y, double rtol, index_t most) { return solve_anew(b, y, rtol, most, w); };
  const auto error = error_by_second_start(x, r, std::max(system_.options.rtol, r.relative_residual), from, {},
                                           &looked_.strays); // atol may have been met
  w.in_vain = !error;
  return error;
}

/// `of_itself`: what other answers told is not its error.
template <class V>
std::optional<double> ladder<V>::ask_starts(const solve_report& r, cview<V> b, cview<V> x, work_done& w,
                                            bool of_itself) {
  if (of_itself) return start_again(r, b, x, w);
  const double goal = std::max(system_.options.rtol, r.relative_residual); // atol may have been met
  return told_.error_of(largest_element(x) / (length_of(b) * goal), r.relative_residual / goal,
                        [&] { return start_again(r, b, x, w); });
}

/// How far from an answer another start leads; complete factors are made where that tells nothing, and these tell more.
template <class V>
std::optional<double> ladder<V>::find_error(const solve_report& r, cview<V> b, cview<V> x, work_done w) {
  const features& f = system_.known;
  if (asks_augmented_) return error_by_augmented(b, x, most_operations::any);
  const bool at_random = !by_factors_ && shows_at_random(r, f);
  std::optional<double> apart;
  if (at_random) apart = ask_at_random(r, x.size, w);
  const bool unclear = at_random && !apart; // what x holds of an eigenvector that its steps did not meet is x's own
  const bool looks = !by_factors_ && looked_.take(r, unclear);
  if (!by_factors_ && !apart && (unclear || !told_.empty() || (looks && wants_second_start(r, f))))
    apart = ask_starts(r, b, x, w, unclear);
  const double operations = looks && (!apart || is_made_sure_of(*apart, f)) ? operations_worth(r, f, w) : 0;
  if (operations > 0 && !f.square()) {
    const auto error = error_by_augmented(b, x, operations);
    if ((asks_augmented_ = error.has_value())) return error;
  } else if (operations > 0) look_by_complete_factors(operations);
  if (by_factors_ && by_factors_->singular()) singular_by_ = "a complete factorisation";
  const bool hidden = !by_factors_ && !apart && hides_errors(r, f);
  const bool is_guess = r.iterations == 0 && !by_factors_ && !apart;
  if (looks && (hidden || is_guess) && !w.in_vain) apart = ask_starts(r, b, x, w);
  looked_.in_vain = looked_.in_vain || w.in_vain;
  return apart;
}

template <class V> void ladder<V>::doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& w) {
  const bool by_pivots = report.solver == "direct" && report.iterations > 0; // these and its estimates say better
  if (by_pivots && !split_) return singular_by_.clear();
  const bool converged = report.why == status::converged;
  if (converged) shown_.add(report);
  if (singular_by_.empty() && converged && maps_ones_to_zero()) singular_by_ = of_row_sums;
  if (singular_by_.empty() && converged && has_singular_part()) singular_by_ = of_column_sums;
  const bool unclear = converged && singular_by_.empty() && in_doubt(report, system_.known) && !is_zero(x);
  const std::optional<double> apart = unclear ? find_error(report, b, x, w) : std::nullopt;
  if (!singular_by_.empty()) return warn_of_many_answers(report, singular_by_);
  if (!unclear) return;
  if (asks_augmented_ && apart) put_nearest(report, *apart);
  else if (by_factors_) put_into(report, by_factors_->of(b, x, report.relative_residual));
  else if (hides_errors(report, system_.known) && !apart) warn_of_hidden_errors(report, system_.known);
  else {
    put_condition(report, shown_, !apart);
    if (apart) put_apart(report, *apart);
    else if (report.iterations == 0) warn_of_a_guess(report);
    else if (looked_.in_vain) put_straying(report, looked_.strays, system_.known.square());
  }
}

template void ladder<double>::doubt(solve_report&, cview<double>, cview<double>, const work_done&);
template void ladder<float>::doubt(solve_report&, cview<float>, cview<float>, const work_done&);

} // namespace furrow
