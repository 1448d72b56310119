// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides on a ladder, and where the next one begins.
#include "ladder.hpp"
#include "run.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <numeric>

namespace furrow {
namespace {

/// Right-hand sides in a row that go back to no avail, where that takes a set-up each: those that follow stay.
constexpr int most_in_vain = 2;

/// Ends that say as much of b as of A: rounding, numbers that overflow or vanish, an unlucky direction.
bool may_be_of_b(status why) {
  return why == status::stagnated || why == status::breakdown || why == status::diverged || why == status::nan;
}

} // namespace

/// Whether a rung, which is set up, was left for the sake of this b alone: complete factors of a matrix that is not
/// singular, and what gave the last answer. That a matrix is singular may be known, and this b is out of its range
/// then. A rate that promised too many steps is that of the next one, too.
template <class V> bool ladder<V>::is_left_for_b(const rung_plan& plan, status why) const {
  if (!kept_ || answers(why)) return false;
  if (has_factored(plan.solver) && !plan.augmented) return why != status::singular;
  return at_ == answered_at_ && (may_be_of_b(why) || (why == status::singular && singular_));
}

/// Back to the rung that was left for an earlier right-hand side alone, where there is one.
template <class V> std::optional<typename ladder<V>::detour> ladder<V>::go_back() {
  if (!better_) return {};
  const bool stands_still = aside_ && aside_->is_of(plans_[*better_]);
  if (!stands_still && in_vain_ >= most_in_vain) return {};
  const detour way{at_, *std::exchange(better_, std::nullopt)};
  at_ = way.back;
  return way;
}

/// From the rung that was gone back to, and failed again, on to the one that stood: in the same list, and once.
template <class V> void ladder<V>::skip_what_came_between(std::optional<detour>& went) {
  if (went && at_ == went->back && (answered_at_ || in_vain_ >= most_in_vain)) at_ = went->stood - 1;
  went.reset();
}

/// Where no rung answered, which was for no want of steps, the next right-hand side begins anew.
template <class V> void ladder<V>::remember_end(status why, bool went_back, bool exhausted) {
  if (exhausted && !better_ && (may_be_of_b(why) || why == status::singular)) better_ = 0;
  answered_at_.reset();
  if (answers(why)) answered_at_ = at_;
  if (answers(why) && !better_) in_vain_ = 0;
  else if (went_back) ++in_vain_;
}

/// Whether the rung whose turn it is takes several right-hand sides at once, and gains by it: where the product takes
/// one vector after the other, the passes of the block cost more than its fewer iterations save.
template <class V> bool ladder<V>::takes_blocks() const {
  return !refused_ && at_ < plans_.size() && plans_[at_].solver == "cg" && !is_watched_closely(system_.options) &&
         system_.a().multiplies_blocks();
}

/// The rung of cg with several columns at once. Where one of them is left, the next rung is at hand. Answers are looked
/// at as those of single columns are; what the first look finds of A serves all of them.
template <class V>
void ladder<V>::solve_block(cview<V> b, view<V> x, const std::vector<index_t>& numbers,
                            std::vector<solve_report>& reports, const effort& spent) {
  rung_plan plan = plans_[at_];
  const bool made_before = system_.has_first();
  solve_rung tried{"block_cg", plan.precond, system_.options.where, plan.reason, {}};
  if (!stands(plan, tried)) {
    for (const index_t j : numbers) reports[static_cast<std::size_t>(j)].rungs.push_back(tried);
    ++at_;
    return;
  }
  solve_options o = kept_->options;
  o.solver = "block_cg", o.outlook = plan.outlook, o.time_limit = std::max(system_.deadline - now(), 0.0);
  if (o.max_iterations > 0) o.max_iterations -= spent.iterations;
  solver<V> method(kept_->a, kept_->m.get(), o, {system_.norm_2, system_.facts.row_max});
  auto ran = method.solve(b, x, index_t(numbers.size()));
  status worst = status::converged;
  work_done work{.on_gpu = system_.options.where.is_gpu()};
  for (std::size_t k = 0; k < ran.size(); ++k) {
    solve_report &r = ran[k], &all = reports[static_cast<std::size_t>(numbers[k])];
    const double setup = k == 0 && !made_before ? tried.setup_seconds : 0;
    if (!is_over(r.why)) worst = r.why;
    r.solver = "block_cg", r.precond = plan.precond;
    r.rungs = std::move(all.rungs);
    r.rungs.push_back(rung_of(r, kept_->options.where, plan.reason, setup));
    r.setup_seconds = all.setup_seconds + setup, r.solve_seconds += all.solve_seconds;
    if (k == 0) work.add(r, system_.known); // what was set up is of all of them
    else work.bytes += r.bytes_per_iteration * double(r.iterations);
    all = std::move(r);
    describe_choice(all);
  }
  const index_t rows = system_.facts.shape.rows;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    solve_report& answer = reports[static_cast<std::size_t>(numbers[k])];
    if (!answers(answer.why)) continue;
    const double since = now();
    doubt(answer, {b.data + index_t(k) * rows, rows}, {x.data + index_t(k) * rows, rows}, work);
    answer.solve_seconds += now() - since;
  }
  if (std::ranges::any_of(ran, [](const solve_report& r) { return answers(r.why); })) answered_at_ = at_;
  if (is_over(worst)) return system_.drop_rows();
  turn(worst, "cg", reports[static_cast<std::size_t>(numbers.front())].rungs);
  ++at_;
}

template <class V> std::vector<solve_report> ladder<V>::solve(cview<V> b, view<V> x, index_t columns) {
  const double began = begin_solve(0);
  const index_t rows = system_.facts.shape.rows, cols = system_.facts.shape.cols;
  std::vector<solve_report> reports(static_cast<std::size_t>(columns));
  std::vector<index_t> left(static_cast<std::size_t>(columns));
  std::iota(left.begin(), left.end(), 0);
  std::vector<index_t> apart; // that no A x reaches, one after the other
  std::erase_if(left, [&](index_t j) {
    const bool splits_up = !refused_ && splits({b.data + j * rows, rows});
    if (splits_up) apart.push_back(j);
    return splits_up;
  });
  effort spent;
  bool stopped = false;
  const auto within_limits = [&] {
    spent.seconds = now() - began;
    return spent.seconds <= system_.options.time_limit &&
           (system_.options.max_iterations == 0 || spent.iterations < system_.options.max_iterations);
  };
  while (left.size() > 1 && !stopped && takes_blocks() && within_limits()) {
    const auto count = index_t(left.size());
    if (count == columns && !system_.negated) {
      solve_block(b, x, left, reports, spent);
    } else {
      host_array<V> some_b(count * rows), some_x(count * rows);
      for (index_t k = 0; k < count; ++k) {
        std::copy_n(b.data + left[k] * rows, rows, some_b.data() + k * rows);
        std::copy_n(x.data + left[k] * rows, rows, some_x.data() + k * rows);
      }
      if (system_.negated) std::ranges::transform(some_b, some_b.begin(), [](V v) { return -v; });
      solve_block(as_cview(some_b), as_view(some_x), left, reports, spent);
      for (index_t k = 0; k < count; ++k) std::copy_n(some_x.data() + k * rows, rows, x.data + left[k] * rows);
    }
    index_t most = 0;
    std::erase_if(left, [&](index_t j) {
      const solve_report& r = reports[static_cast<std::size_t>(j)];
      most = std::max(most, r.iterations);
      stopped = stopped || r.why == status::interrupted;
      return !r.rungs.empty() && is_over(r.why);
    });
    spent.iterations += most;
  }
  at_ = std::min(at_, std::max<std::size_t>(plans_.size(), 1) - 1);
  left.insert(left.end(), apart.begin(), apart.end());
  std::ranges::sort(left);
  one_after_the_other next(system_.options, stopped);
  for (const index_t j : left) {
    solve_report& before = reports[static_cast<std::size_t>(j)];
    if ((next.stopped() || !within_limits()) && !before.message.empty()) continue;
    solve_report r = next([&] { return solve({b.data + j * rows, rows}, furrow::part(x, j * cols, cols), spent); });
    r.rungs.insert(r.rungs.begin(), before.rungs.begin(), before.rungs.end());
    r.setup_seconds += before.setup_seconds, r.solve_seconds += before.solve_seconds;
    before = std::move(r);
  }
  return reports;
}

template bool ladder<double>::is_left_for_b(const rung_plan&, status) const;
template std::optional<ladder<double>::detour> ladder<double>::go_back();
template void ladder<double>::skip_what_came_between(std::optional<detour>&);
template void ladder<double>::remember_end(status, bool, bool);
template bool ladder<float>::is_left_for_b(const rung_plan&, status) const;
template std::optional<ladder<float>::detour> ladder<float>::go_back();
template void ladder<float>::skip_what_came_between(std::optional<detour>&);
template void ladder<float>::remember_end(status, bool, bool);
template std::vector<solve_report> ladder<double>::solve(cview<double>, view<double>, index_t);
template std::vector<solve_report> ladder<float>::solve(cview<float>, view<float>, index_t);

} // namespace furrow
