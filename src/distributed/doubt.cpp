// SPDX-License-Identifier: BSD-3-Clause
#include "doubt.hpp"

#include "first.hpp"
#include "gather_rows.hpp"
#include "load/tell.hpp"

#include "preconditioners/stop.hpp"
#include "solve/largest.hpp"
#include "solve/random_b.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {

/// What complete factors on the first rank say of an answer; of `a` where they are yet to be made.
template <class V>
std::optional<factor_facts> doubt_on_ranks<V>::ask_factors(communicator& c, double residual, cview<V> b, cview<V> x,
                                                           const means& with, coo<V> a, double operations) {
  const std::vector<index_t> begins = begins_of_parts(c, b.size);
  host_array<V> whole_b, whole_x;
  alike(c, [&] {
    if (c.rank() == 0) whole_b = host_array<V>(begins.back()), whole_x = host_array<V>(begins.back());
  });
  gather(c, b, as_view(whole_b), begins);
  gather(c, x, as_view(whole_x), begins);
  std::optional<factor_facts> facts;
  alone_on_first(c, [&] {
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (!with.no_time()) return {};
      return refusal{status::interrupted, "no time is left to estimate the error"};
    });
    if (!by_factors_) by_factors_ = factor_look<V>::at(std::move(a), operations);
    if (by_factors_) facts = by_factors_->of(as_cview(whole_b), as_cview(whole_x), residual);
  });
  has_factors_ = c.of_first(facts.has_value()) != 0;
  const factor_facts told = tell(c, 0, facts.value_or(factor_facts{}));
  return has_factors_ ? std::optional(told) : std::nullopt;
}

template <class V>
std::optional<factor_facts> doubt_on_ranks<V>::look_at_factors(communicator& c, double residual, cview<V> b, cview<V> x,
                                                               double operations, const means& with) {
  const features& f = with.known;
  solve_options single = with.options;
  single.solver = single.precond = "auto"; // names of ranks mean nothing to one
  if (!too_large_for_first(c, {f.rows, f.rows}, f.nnz, precision_of<V>, single).empty()) return {};
  return ask_factors(c, residual, b, x, with, gather_rows(c, with.rows()), operations);
}

template <class V>
std::optional<double> doubt_on_ranks<V>::ask_at_random(const solve_report& report, index_t size, work_done& w,
                                                       const means& with) {
  return error_by_random_b(shown_, report, with.known, false, [&](double rtol, index_t most) {
    host_array<V> b(size), y(size);
    begin_at_random<V>(as_view(b), as_view(y), {}, with.first_row);
    solve_report r = with.anew(as_cview(b), as_view(y), std::max(rtol, least_goal<V>), most);
    w.add_start(r);
    return r;
  });
}

template <class V>
std::optional<double> doubt_on_ranks<V>::ask_starts(communicator& c, const solve_report& report, cview<V> b, cview<V> x,
                                                    work_done& w, const means& with, bool of_itself) {
  const double goal = std::max(with.options.rtol, report.relative_residual), mine = length_of(b);
  const double largest = c.max(mine),
               of_b = largest > 0 ? largest * std::sqrt(c.sum(mine / largest * (mine / largest))) : 0;
  const auto start = [&]() -> std::optional<double> {
    const solve_from<V> from = [&](view<V> y, double rtol, index_t most) {
      solve_report r = with.anew(b, y, rtol, most);
      w.add_start(r);
      return r;
    };
    const part_of_vector part{with.first_row, [&c](double of_part) { return c.max(of_part); }};
    const auto error = error_by_second_start(x, report, goal, from, part, &looked_.strays);
    w.in_vain = !error;
    return error;
  };
  if (of_itself) return start();
  return told_.error_of(c.max(largest_element(x)) / (of_b * goal), report.relative_residual / goal, start);
}

/// How far from an answer another start leads, or what complete factors say.
template <class V>
typename doubt_on_ranks<V>::found doubt_on_ranks<V>::find_error(communicator& c, const solve_report& report, cview<V> b,
                                                                cview<V> x, work_done w, const means& with) {
  const features& f = with.known;
  if (has_factors_) return {{}, ask_factors(c, report.relative_residual, b, x, with, {}, 0)};
  const bool at_random = shows_at_random(report, f);
  found now;
  if (at_random) now.apart = ask_at_random(report, x.size, w, with);
  const bool unclear = at_random && !now.apart; // what x holds of an eigenvector that its steps did not meet is x's own
  const bool looks = looked_.take(report, unclear);
  if (!now.apart && (unclear || !told_.empty() || (looks && wants_second_start(report, f))))
    now.apart = ask_starts(c, report, b, x, w, with, unclear);
  const double operations =
      looks && (!now.apart || is_made_sure_of(*now.apart, f)) ? operations_worth(report, f, w) : 0;
  if (operations > 0) now.facts = look_at_factors(c, report.relative_residual, b, x, operations, with);
  const bool hidden = !now.facts && !now.apart && hides_errors(report, f);
  const bool is_guess = report.iterations == 0 && !now.facts && !now.apart;
  if (looks && (hidden || is_guess) && !w.in_vain) now.apart = ask_starts(c, report, b, x, w, with);
  looked_.in_vain = looked_.in_vain || w.in_vain;
  return now;
}

template <class V>
void doubt_on_ranks<V>::look(communicator& c, solve_report& report, cview<V> b, cview<V> x, const work_done& work,
                             std::string& singular_by, const means& with) {
  const features& f = with.known;
  const bool converged = report.why == status::converged;
  if (converged) shown_.add(report);
  if (singular_by.empty() && converged) {
    const auto each_row = [&] { return c.max(each_row_adds_up_to_zero(with.rows()) ? 0.0 : 1.0) == 0; };
    if (!ones_to_zero_) ones_to_zero_ = adds_up_to_zero<V>(c.max(largest_row_sum(with.a)), with.norm_inf, f, each_row);
    if (*ones_to_zero_) singular_by = of_row_sums;
  }
  const bool unclear = converged && singular_by.empty() && in_doubt(report, f) && c.max(is_zero(x) ? 0.0 : 1.0) > 0;
  const found now = unclear ? find_error(c, report, b, x, work, with) : found{};
  if (now.facts && now.facts->singular) singular_by = "a complete factorisation";
  if (!singular_by.empty()) return warn_of_many_answers(report, singular_by);
  if (!unclear) return;
  if (now.facts) put_into(report, *now.facts);
  else if (hides_errors(report, f) && !now.apart) warn_of_hidden_errors(report, f);
  else {
    put_condition(report, shown_, !now.apart);
    if (now.apart) put_apart(report, *now.apart);
    else if (report.iterations == 0) warn_of_a_guess(report);
    else if (looked_.in_vain) put_straying(report, looked_.strays);
  }
}

template class doubt_on_ranks<double>;
template class doubt_on_ranks<float>;

} // namespace furrow
