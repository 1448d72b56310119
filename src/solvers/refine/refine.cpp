// SPDX-License-Identifier: BSD-3-Clause
#include "refine.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow {
namespace refine_messages {

using solver_messages::standing;

ending not_finite() { return overflow({{"the correction", HUGE_VAL}}); }

ending no_step(std::string_view method, status why, const std::string& message) {
  const std::string instead = why == status::not_positive_definite
                                  ? "refine:minres and refine:bicgstab take such matrices"
                                  : fmt::format("the solver {} in double precision may do better", method);
  // With 7 digits even a matrix of condition number 200 may be singular to the solver, by what M makes of it.
  const status said = why == status::singular ? status::stagnated : why;
  return {said, [=](const standing& s) {
            return fmt::format("the relative residual stays at {:.3e} after {}, for {} in single precision "
                               "gives no other: {}; {}",
                               s.relative, counted(s.iterations, "correction"), method, message, instead);
          }};
}

ending no_gain(std::string_view method, double condition) {
  return {status::stagnated, [=](const standing& s) {
            return fmt::format(
                "the relative residual stays at {:.3e} after {} in single precision, which "
                "gain nothing where the condition number is beyond 1e6 or 1e7: here it seems to be {:.0e} "
                "or more; take the solver {} in double precision",
                s.relative, counted(s.iterations, "correction"), condition, method);
          }};
}

} // namespace refine_messages

namespace refine_solver {
namespace {

std::unique_ptr<solver_keeps> set_up(const coo<double>& a, const any_preconditioner<double>&,
                                     std::string_view parameters, const solve_options& options) {
  return std::make_unique<inner_system>(a, parameters, options);
}

/// What `iteration` takes, and two vectors in single precision; the inner method's are counted with its set-up.
index_t vectors(std::string_view) { return iteration<cpu::space<double>>::own_vectors + 1; }

} // namespace

extern const solver_entry entry{
    .name = "refine",
    .about = "a solver in single precision inside, residuals and answer in double",
    .vectors = vectors,
    .f64 = run_on_device<refine_method, double>,
    .parameters = "[:SOLVER]",
    .set_up = {.estimate = estimate_inner_system, .f64 = set_up},
};

} // namespace refine_solver
} // namespace furrow
