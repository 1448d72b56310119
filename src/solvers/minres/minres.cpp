// SPDX-License-Identifier: BSD-3-Clause
#include "minres.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace minres_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace minres_steps;
  switch (verdict) {
  case negative_m:
    return ending{status::not_positive_definite, [least = slots[smallest]](const standing& s) {
                    return fmt::format(
                        "iteration {}: r'Mr = {:.6e} is negative, so the preconditioner is not positive definite",
                        s.iterations + 1, least);
                  }};
  case lost_direction:
  case outgrown:
    if (patient) return {};
    if (verdict == lost_direction && slots[old_beta] == 0) // of this step: r'Mr = 0
      return ending{status::breakdown,
                    [](const standing& s) { return solver_messages::singular_preconditioner(s, 0); }};
    return ending{status::singular, [](const standing& s) {
                    const char* const least =
                        s.preconditioned ? "in the norm of the preconditioner no x has a smaller residual than this one"
                                         : "no x has a smaller residual";
                    return fmt::format("the matrix is singular{} and b is not in its range: after {} {}, within "
                                       "rounding; the relative residual is {:.3e}; take the part of b that A maps to "
                                       "zero out",
                                       s.single_precision ? " in single precision" : " to working precision",
                                       counted(s.iterations, "iteration"), least, s.relative);
                  }};
  default:
    return overflow({{"v'Av", slots[alfa]}, {"r'Mr", slots[squares]}});
  }
}

} // namespace minres_messages

namespace minres_solver {

extern const solver_entry entry{"minres",
                                "minimal residuals, for symmetric matrices, definite or not",
                                {{true, false}, {true, true}},
                                fixed_vectors<minres_method, 9>,
                                run_on_device<minres_method, double>,
                                run_on_device<minres_method, float>};

} // namespace minres_solver
} // namespace furrow
