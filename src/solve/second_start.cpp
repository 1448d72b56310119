// SPDX-License-Identifier: BSD-3-Clause
#include "second_start.hpp"
#include "largest.hpp"
#include "random_b.hpp"
#include "second_look.hpp"

#include "solvers/entry.hpp"
#include "solvers/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace furrow {
namespace {

/// A residual that well conditioned systems reach early, and what is left of the step there.
constexpr double early_goal = 1e-4, back = 1e-3;
/// Iterations for each one of the answer's: b - A y is rough at first, and takes 4 times as many on a real system whose
/// b is smooth.
constexpr index_t patience = 4;
constexpr index_t least_iterations = 8;
/// In place of those of an answer that a first guess was.
constexpr index_t for_a_guess = 150;
/// Digits of the residual over which a power of it says how y comes on: over less a plateau looks like a standstill.
constexpr double fitted = 1e-2;
/// A goal that b - A y, which may be many times b, is always held to: no method takes one of 1.
constexpr double most_goal = 0.5;
/// An error that a power promises, for which nothing more is computed: it may be wrong by ten.
constexpr double surely = 0.3;
/// What is left of a step along a direction that A maps nearly to zero, once the step is made of little else.
constexpr double stays = 0.1;
/// |y - x| beside |x| from which on y strays, for it began at 1.5 at most: of the 122 real systems' none comes to 2.
constexpr double too_far = 10;
/// Times a condition number from which on one is another one.
constexpr double another = 4;
/// An error of which nobody is warned.
constexpr double tolerable = 0.01;
/// |y - x| is one draw of how far x may be off: of systems of many small components, a few of them nearly singular, x
/// was off by up to 2.7 times as much.
constexpr double of_one_draw = 3;
/// Reaches up to so many times apart are those of answers of one kind, and one start tells of them.
constexpr double alike_within = 4;
/// Answers of other kinds that are started again for: a matrix whose right-hand sides are all unlike does not take
/// twice the time for each.
constexpr std::size_t most_told = 8;

/// From [0.5, 1.5].
double step(std::uint64_t i) { return 0.5 + drawn(i); }

std::string percents(double error) {
  return error < 1 ? fmt::format("{:.0f} %", std::max(100 * error, 1.0)) : "as much as it is large";
}

/// Where y is: its relative residual, and how far from x.
struct place_of_y {
  double residual = 0, apart = 0;
};

/// |y - x| where the residual is `rtol`, by the power of the residual between two places. Empty: too near each other.
std::optional<double> by_power(const place_of_y& first, const place_of_y& last, double rtol) {
  if (!(last.residual <= fitted * first.residual) || !(last.apart > 0)) return {};
  const double power = std::log(last.apart / first.apart) / std::log(last.residual / first.residual);
  return last.apart * std::pow(rtol / last.residual, std::clamp(power, 0.0, 1.0));
}

} // namespace

template <class V>
std::optional<double> error_by_second_start(cview<V> x, const solve_report& answer, double rtol,
                                            const solve_from<V>& solve, const part_of_vector& part, double* strays) {
  const double size = part.largest_of_all(largest_element(x));
  if (!(size > 0)) return {};
  host_array<V> y(x.size);
  for (index_t i = 0; i < x.size; ++i) y[i] = V(double(x[i]) + size * step(std::uint64_t(part.first + i)));
  const index_t first = answer.iterations > 0 ? std::max(answer.iterations, least_iterations) : for_a_guess;
  index_t left = patience * first;
  const auto go_on = [&](double to, index_t most) {
    const solve_report r = solve(as_view(y), to, std::min(most, left));
    left -= r.iterations;
    double apart = 0;
    for (index_t i = 0; i < x.size; ++i) apart = std::max(apart, std::abs(double(y[i]) - double(x[i])));
    const place_of_y there{r.relative_residual, part.largest_of_all(apart) / size};
    if (strays && there.apart > too_far && there.residual > rtol)
      *strays = std::max(*strays, there.apart * (rtol / there.residual));
    return there;
  };
  const place_of_y early = go_on(std::max(rtol, early_goal), first);
  if (early.apart <= back) return early.apart * std::min(1.0, answer.relative_residual / early.residual);
  if (early.residual <= rtol) return early.apart;
  place_of_y now = early;
  std::optional<double> error;
  const double nearer = std::min(std::max(rtol, fitted * early.residual), most_goal);
  for (const double goal : {nearer, rtol}) {
    if (left <= 0 || now.residual <= goal) continue;
    now = go_on(goal, left);
    if (!std::isfinite(now.apart) || !std::isfinite(now.residual)) return {};
    if (now.apart > too_far && now.residual > rtol) return {}; // no power says where that ends
    error = now.residual <= rtol ? now.apart : by_power(early, now, rtol);
    if (error && *error < back) return by_power(early, now, answer.relative_residual).value_or(*error);
    if (error && *error > surely) return error;
  }
  if (!error || left <= 0) return error;
  for (index_t i = 0; i < x.size; ++i) y[i] = V(double(x[i]) + (double(y[i]) - double(x[i])) / now.apart);
  const place_of_y grown = go_on(rtol, left);
  return grown.residual <= rtol && std::isfinite(grown.apart) && grown.apart > stays ? grown.apart : *error;
}

void shown_at_random::add(const solve_report& answer) {
  const std::string_view method = off_chip(answer.solver);
  if (method != "cg" && method != "block_cg") return;
  if (precond != answer.precond) *this = {answer.precond};
  condition = std::max(condition, answer.condition_estimate);
}

std::optional<double> error_by_random_b(shown_at_random& known, const solve_report& answer, const features& f,
                                        bool weighed, const solve_at_random& solve) {
  constexpr double margin = 10;   // for what is below the smallest eigenvalue that shows
  constexpr double luck = 0.01;   // of the usual share of b, of which one in a hundred has less
  constexpr double enough = 1.25; // times as many steps are not made once more
  // For an error that is smooth beside a rough x, in the norm of M^-1, about that of A: of a Laplacian shifted to 1e-7
  // of its smallest eigenvalue 7e-4 is told by multigrid for 5 %.
  constexpr double other_norm = 100;
  const double seen = answer.condition_estimate;
  if (!(seen > 0)) return {};
  known.add(answer);
  const double of_sizes = weighed ? f.diagonal_scales : std::max(f.scales, f.diagonal_scales);
  const double goal = luck / std::sqrt(double(f.rows) * std::max(of_sizes, 1.0));
  const index_t most = patience * std::max(answer.iterations, least_iterations);
  if (!known.is_all && double(most) > enough * double(known.steps)) {
    const solve_report r = solve(goal, most);
    if (r.why == status::interrupted || !(r.smallest_ritz > 0)) return {};
    known.condition = std::max(known.condition, r.largest_ritz / r.smallest_ritz);
    known.steps = std::max(known.steps, r.iterations);
    known.is_all = r.why == status::converged;
  }
  if (!known.is_all) return {};
  const bool shows_more = known.condition > another * seen;
  const bool diagonal = answer.precond == "jacobi" || answer.precond == "none";
  const double error = answer.error_estimate * std::max(1.0, known.condition / seen);
  if (!((shows_more ? margin : 1) * (diagonal ? 1 : other_norm) * error <= tolerable) || hides_errors(error, f))
    return {};
  return error;
}

std::optional<double> second_starts::error_of(double reach, double of_residual,
                                              const std::function<std::optional<double>()>& start) {
  if (!(reach > 0) || !std::isfinite(reach)) return {};
  std::optional<double> known;
  bool sure = false;
  if (!told_.empty()) {
    const auto far = [&](const told& t) { return std::abs(std::log(t.reach / reach)); };
    const told& nearest = *std::ranges::min_element(told_, {}, far);
    known = nearest.error * (nearest.reach / reach) * (nearest.falls ? of_residual : 1);
    if (nearest.error > surely) known = std::max(*known, nearest.error); // or any number above: a step has a length
    sure = far(nearest) < std::log(alike_within) || *known <= back || told_.size() >= most_told;
  }
  if (sure) return known;
  const std::optional<double> error = start();
  if (!error) return known;
  const bool falls = *error < back && of_residual > 0;
  told_.push_back({falls ? *error / of_residual : *error, reach, falls});
  return error;
}

void put_straying(solve_report& report, double at_least, bool square) {
  if (report.condition_estimate > 0 && report.solver != "lsmr") return;
  report.error_estimate = at_least > tolerable ? at_least : 0;
  report.warning =
      at_least > tolerable
          ? fmt::format("the residual is small, but x may be off by {} and more: from another first guess the same "
                        "method strays, to where A hardly shows it",
                        percents(at_least))
          : "the residual is small, but nobody knows how far x is off: from another first guess the same method did "
            "not find back in four times the steps";
  if (square) report.warning += "; the solver direct tells";
}

void warn_of_a_guess(solve_report& report) {
  report.warning =
      "x is the first guess, whose residual is small, but nobody knows how far it is off: neither complete "
      "factors nor another start told within what they may take";
}

void put_condition(solve_report& report, const shown_at_random& shown, bool and_error) {
  const double seen = report.condition_estimate;
  if (!(seen > 0) || shown.precond != report.precond || !(shown.condition > another * seen)) return;
  report.condition_estimate = shown.condition;
  if (!and_error) return;
  report.error_estimate *= shown.condition / seen;
  report.warning =
      solver_messages::inaccurate(report.error_estimate, report.condition_estimate, report.relative_residual);
}

void put_apart(solve_report& report, double error) {
  if (report.condition_estimate > 0 && report.solver != "lsmr") error = std::max(error, report.error_estimate);
  report.error_estimate = error;
  report.warning.clear();
  if (!(of_one_draw * error > tolerable)) return;
  report.warning = fmt::format(
      "the residual is small, but x may be off by {}: so far from it is what the same method finds from another first "
      "guess, and it fits b as well",
      percents(error));
}

template std::optional<double> error_by_second_start(cview<double>, const solve_report&, double,
                                                     const solve_from<double>&, const part_of_vector&, double*);
template std::optional<double> error_by_second_start(cview<float>, const solve_report&, double,
                                                     const solve_from<float>&, const part_of_vector&, double*);

} // namespace furrow
