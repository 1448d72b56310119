// SPDX-License-Identifier: BSD-3-Clause
#include "doubt.hpp"

#include "first.hpp"
#include "gather_rows.hpp"
#include "load/tell.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <utility>

namespace furrow {

template <class V>
void doubt_on_ranks<V>::look_at_factors(communicator& c, const solve_report& report, cview<V> b, cview<V> x,
                                        double operations, const means& with) {
  const features& f = with.known;
  solve_options single = with.options;
  single.solver = single.precond = "auto"; // names of ranks mean nothing to one
  if (!too_large_for_first(c, {f.rows, f.rows}, f.nnz, precision_of<V>, single).empty()) return;
  const std::vector<index_t> begins = begins_of_parts(c, b.size);
  const bool first = c.rank() == 0;
  coo<V> mine = with.rows(), room;
  host_array<V> whole_b, whole_x;
  std::optional<error> failed;
  keep_failure(failed, [&] {
    if (!first) return;
    room = {{}, host_array<std::int32_t>(f.nnz), host_array<std::int32_t>(f.nnz), host_array<V>(f.nnz)};
    whole_b = host_array<V>(begins.back()), whole_x = host_array<V>(begins.back());
  });
  throw_first_fault(c, failed);
  const coo<V> a = gather_rows(c, mine, std::move(room));
  gather(c, b, as_view(whole_b), begins);
  gather(c, x, as_view(whole_x), begins);
  alone_on_first(c, [&] {
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (!with.no_time()) return {};
      return refusal{status::interrupted, "no time is left to estimate the error"};
    });
    facts_ = look_by_factors(a, as_cview(whole_b), as_cview(whole_x), operations, report.relative_residual);
  });
  const bool known = c.of_first(facts_.has_value()) != 0;
  const factor_facts told = tell(c, 0, facts_.value_or(factor_facts{}));
  if (known) facts_ = told;
}

template <class V>
void doubt_on_ranks<V>::look(communicator& c, solve_report& report, cview<V> b, cview<V> x, const work_done& work,
                             std::string& singular_by, const means& with) {
  if (singular_by.empty() && report.why == status::converged) {
    const auto each_row = [&] { return c.max(each_row_adds_up_to_zero(with.rows()) ? 0.0 : 1.0) == 0; };
    if (!ones_to_zero_)
      ones_to_zero_ = adds_up_to_zero<V>(c.max(largest_row_sum(with.a)), with.norm_inf, with.known, each_row);
    if (*ones_to_zero_) singular_by = of_row_sums;
  }
  const bool unclear = report.why == status::converged && singular_by.empty() && in_doubt(report, with.known);
  const bool looks = unclear && !std::exchange(looked_, looked_ || unclear);
  const auto start_again = [&] {
    apart_ = error_by_second_start(x, report, std::max(with.options.rtol, report.relative_residual), with.again,
                                   {with.first_row, [&c](double mine) { return c.max(mine); }});
  };
  if (looks && wants_second_start(report, with.known)) start_again();
  const double operations = looks && !apart_ ? operations_worth(report, with.known, work) : 0;
  if (operations > 0) {
    look_at_factors(c, report, b, x, operations, with);
    if (facts_ && facts_->singular) singular_by = "a complete factorisation";
  }
  const bool hidden = unclear && !facts_ && !apart_ && hides_errors(report, with.known);
  if (looks && hidden) start_again();
  if (!singular_by.empty()) warn_of_many_answers(report, singular_by);
  else if (unclear && facts_) put_into(report, *facts_);
  else if (unclear && apart_) put_apart(report, *apart_);
  else if (hidden) warn_of_hidden_errors(report, with.known);
}

template class doubt_on_ranks<double>;
template class doubt_on_ranks<float>;

} // namespace furrow
