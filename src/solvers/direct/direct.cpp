// SPDX-License-Identifier: BSD-3-Clause
#include "direct.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow {
namespace direct_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, double rounding) {
  if (verdict == control::not_finite) return overflow({{"the correction", HUGE_VAL}});
  const bool larger = slots[control::rr] > slots[control::peak]; // than in all steps before this one
  if (larger && std::sqrt(slots[control::rr]) > rounding)
    return ending{status::diverged, [](const standing& s) {
                    return fmt::format("iteration {}: the residual grows from step to step, for the preconditioner is "
                                       "no inverse of the matrix, not even roughly; the best x has a relative residual "
                                       "of {:.3e}",
                                       s.iterations, s.relative);
                  }};
  if (verdict == direct_steps::idle_without_factors)
    return ending{status::stagnated, [](const standing& s) {
                    return fmt::format("the relative residual stays at {:.3e} after {}: the preconditioner is too far "
                                       "from the inverse of the matrix, or rounding limits it; take the preconditioner "
                                       "lu, or another solver",
                                       s.relative, counted(s.iterations, "iteration"));
                  }};
  return ending{status::stagnated, solver_messages::stagnated};
}

std::string warning(double error_estimate, double condition) {
  if (!is_large(error_estimate)) return {};
  return fmt::format("the residual is small, but x may be off by {}: the condition number of the matrix is {}, "
                     "so that rounding of its entries or of b changes x as much",
                     error_estimate < 1 ? fmt::format("{:.0f} %", 100 * error_estimate) : "as much as it is large",
                     std::isfinite(condition) ? fmt::format("about {:.1e}", condition) : "beyond all numbers");
}

std::string nobody_knows() {
  return "the residual is small, but nobody knows how far x is off: pivots grew, and the condition number of such "
         "factors is not that of the matrix; compare with lu:dense or lu:sparse, which have other pivots";
}

std::string pivots_were_raised() {
  return "the residual is small, but nobody knows how far x is off: pivots were made larger, as those of a singular "
         "matrix are; solver direct on the CPU tells";
}

} // namespace direct_messages

namespace direct_solver {

extern const solver_entry entry{"direct",
                                "a factorisation and iterative refinement, for matrices of any kind",
                                {},
                                fixed_vectors<direct_method, 5>,
                                run_on_device<direct_method, double>,
                                run_on_device<direct_method, float>,
                                {},
                                "lu"};

} // namespace direct_solver
} // namespace furrow
