// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include "core/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::solver_messages {
namespace {

/// `value` rounded up to one digit: a tolerance to ask for.
std::string one_digit_above(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  return fmt::format("{:.0e}", std::ceil(value / power) * power);
}

/// Times that an error may be larger than its estimate: 5 on the real matrices.
constexpr double doubt = 5;

} // namespace

std::string converged(const standing& s) { return "converged in " + counted(s.iterations, "iteration"); }

std::string limit(const standing& s) {
  if (!(s.relative < s.first_relative))
    return fmt::format("stopped at the limit of {}, none of which brought the residual below the {:.3e} of the x that "
                       "it began with",
                       counted(s.iterations, "iteration"), s.first_relative);
  return fmt::format("stopped at the limit of {} with a relative residual of {:.3e}: allow more iterations{}",
                     counted(s.iterations, "iteration"), s.relative,
                     s.preconditioned ? "" : " or use a preconditioner");
}

std::string interrupted(const standing& s) { return "interrupted after " + counted(s.iterations, "iteration"); }

std::string residual_not_finite(const standing& s) {
  std::string what = "the residual is not a finite number: the numbers overflow";
  if (s.iterations == 0) return what; // that of the first guess, whatever solves
  return fmt::format("iteration {}: {}{}; another solver or preconditioner may not", s.iterations, what,
                     s.single_precision ? " f32: take f64" : "");
}

std::string grown(const standing& s) {
  return fmt::format("iteration {}: the residual grew beyond 1e20 times its first value; the best x has a relative "
                     "residual of {:.3e}",
                     s.iterations, s.relative);
}

std::string too_slow(const standing& s) {
  return fmt::format("left after {} with a relative residual of {:.3e}: at this rate it takes too many",
                     counted(s.iterations, "iteration"), s.relative);
}

std::string out_of_time(const standing& s) {
  return fmt::format("stopped by the limit on its time after {} with a relative residual of {:.3e}",
                     counted(s.iterations, "iteration"), s.relative);
}

std::string stagnated(const standing& s) {
  const double floor = std::max(s.relative, s.relative_floor);
  const std::string where =
      s.relative_floor > s.relative
          ? fmt::format("is {:.3e} as it is computed, of which rounding may hide {:.3e},", s.relative, s.relative_floor)
          : fmt::format("stays at {:.3e}", s.relative);
  // A tolerance of 1 and more accepts x = 0, and is refused.
  const std::string advice =
      1.1 * floor < 0.9 ? fmt::format("ask for a tolerance of {}{}", one_digit_above(1.1 * floor),
                                      s.single_precision ? " or use f64" : "")
                        : fmt::format("take {}another method or preconditioner", s.single_precision ? "f64, or " : "");
  return fmt::format("the relative residual {} after {} and {}: rounding limits this matrix; {}", where,
                     counted(s.iterations, "iteration"), counted(s.restarts, "restart"), advice);
}

std::string singular_preconditioner(const standing& s, double product) {
  return fmt::format("iteration {}: r'Mr = {:.3e} vanishes where r does not, with a relative residual of {:.3e}: the "
                     "preconditioner is singular to working precision",
                     s.iterations, product, s.relative);
}

std::string inaccurate(double error, double condition, double relative_residual) {
  if (!(error * doubt > 0.01)) return {};
  const std::string size =
      error < 1 ? fmt::format("{:.0f} % or much more", std::max(100 * error, 1.0)) : "as much as it is large";
  const std::string why =
      condition > 0 && std::isfinite(condition)
          ? fmt::format(": the condition number of the preconditioned matrix is at least {:.1e}", condition)
          : "";
  if (!std::isfinite(error)) return fmt::format("the residual is small, but x may be off by {}{}", size, why);
  return fmt::format("the residual is small, but x may be off by {}{}; a tolerance of {:.0e} or less shows more of it",
                     size, why, 0.01 * relative_residual / (doubt * error));
}

} // namespace furrow::solver_messages
