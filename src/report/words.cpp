// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::report {

std::string_view verdict(status s) {
  switch (s) {
  case status::converged:
    return "Converged";
  case status::least_squares:
    return "Least squares";
  case status::max_iterations:
    return "Stopped short";
  case status::not_positive_definite:
    return "Not positive definite";
  case status::singular:
    return "Singular";
  case status::breakdown:
    return "Broke down";
  case status::nan:
    return "Not a number";
  case status::stagnated:
    return "Stagnated";
  case status::diverged:
    return "Diverged";
  case status::interrupted:
    return "Interrupted";
  }
  return "Ended";
}

std::string_view advice(status s) {
  switch (s) {
  case status::converged:
  case status::least_squares:
    return "";
  case status::max_iterations:
    return "Allow more iterations or more time, beginning from this x; or take a stronger preconditioner, or the "
           "direct solver.";
  case status::not_positive_definite:
    return "Take minres for a symmetric matrix, gmres or the direct solver for any other one; or name no solver.";
  case status::singular:
    return "Look for an equation or a boundary condition that is missing; a b in the range of A can be solved for.";
  case status::breakdown:
    return "Take gmres or the direct solver.";
  case status::nan:
    return "Look for values that are no finite numbers, or huge ones, in A, b and the first guess.";
  case status::stagnated:
    return "Rounding may leave no better residual: ask for a larger rtol, solve in f64, take a stronger "
           "preconditioner or the direct solver.";
  case status::diverged:
    return "Take a stronger preconditioner, gmres, or the direct solver.";
  case status::interrupted:
    return "Go on from this x as the first guess.";
  }
  return "";
}

std::string sentence(std::string text) {
  if (text.size() > 1 && text[1] != ' ' && text[0] >= 'a' && text[0] <= 'z') // not the "b" of "b is zero"
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

std::string figure(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : "not known"; }

std::string method(std::string_view solver, std::string_view precond) {
  if (solver.empty()) return "none";
  return precond.empty() ? std::string(solver) : fmt::format("{} with {}", solver, precond);
}

bool is_answer(const solve_report& r) { return r.why == status::converged || r.why == status::least_squares; }

bool has_residual(const solve_report& r) { return r.why == status::converged || r.solve_seconds > 0; }

std::string estimated_by(const solve_report& r, shape2 shape) {
  const bool any = r.error_estimate > 0 || r.condition_estimate > 0;
  const bool by_factors = r.solver == "direct" && r.precond.starts_with("lu");
  if (!any || by_factors || r.why != status::converged || !r.warning.empty() || !r.rungs.empty()) return {};
  if (shape.rows < shape.cols) return {};
  return fmt::format("the steps of {} alone; the solver auto looks further", r.solver);
}

double bytes_a_second(const solve_report& r) {
  // The best x of several methods is not always that of the last one.
  const auto own = std::find_if(r.rungs.rbegin(), r.rungs.rend(), [&](const solve_rung& rung) {
    return rung.solver == r.solver && rung.precond == r.precond && rung.iterations == r.iterations;
  });
  const double seconds = r.rungs.empty()         ? r.solve_seconds
                         : own == r.rungs.rend() ? r.rungs.back().solve_seconds
                                                 : own->solve_seconds;
  return seconds > 0 ? r.bytes_per_iteration * double(r.iterations) / seconds : 0;
}

} // namespace furrow::report
