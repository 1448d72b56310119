// SPDX-License-Identifier: BSD-3-Clause
#include "cr.hpp"

#include "solvers/on_device.hpp"

#include <fmt/format.h>

namespace furrow {

std::optional<ending> cr_messages::explain(int verdict, const double* slots, bool patient) {
  using namespace cr_steps;
  using solver_messages::standing;
  const double curvature = slots[rho], square = slots[qq];
  switch (verdict) {
  case control::not_finite:
    return ending{status::nan, [=, next = slots[rho_next]](const standing& s) {
                    return fmt::format("iteration {}: r'MAMr = {}, p'AMAp = {}: the numbers overflow", s.iterations + 1,
                                       next, square);
                  }};
  case negative_qq:
    return ending{status::not_positive_definite, [=](const standing& s) {
                    return fmt::format(
                        "iteration {}: p'AMAp = {:.6e} is negative, so the preconditioner is not positive definite",
                        s.iterations + 1, square);
                  }};
  case zero_qq:
    if (patient) return {};
    return ending{status::singular, [](const standing& s) {
                    return fmt::format("iteration {}: A maps the direction to zero: the matrix is singular to working "
                                       "precision; the best x has a relative residual of {:.3e}",
                                       s.iterations + 1, s.relative);
                  }};
  default:
    if (patient) return {};
    return ending{status::breakdown, [=](const standing& s) {
                    return fmt::format(
                        "iteration {}: r'MAMr = {:.3e} vanishes, with a relative residual of {:.3e}, and starting "
                        "again did not help: the matrix is indefinite or singular; minres needs no definite matrix",
                        s.iterations, curvature, s.relative);
                  }};
  }
}

namespace cr_solver {

extern const solver_entry entry{"cr",
                                "conjugate residuals, for symmetric matrices: the residual cannot grow where they are "
                                "definite",
                                {{true, false}, {true, true}},
                                fixed_vectors<cr_method, 7>,
                                run_on_device<cr_method, double>,
                                run_on_device<cr_method, float>};

} // namespace cr_solver
} // namespace furrow
