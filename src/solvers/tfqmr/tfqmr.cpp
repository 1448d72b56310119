// SPDX-License-Identifier: BSD-3-Clause
#include "tfqmr.hpp"

#include "solvers/on_device.hpp"

#include <fmt/format.h>

namespace furrow {

std::optional<ending> tfqmr_messages::explain(int verdict, const double* slots, bool patient) {
  using namespace tfqmr_steps;
  using solver_messages::standing;
  if (verdict == control::not_finite)
    return ending{status::nan, [w2 = slots[ww], product = slots[sigma]](const standing& s) {
                    return fmt::format("iteration {}: |w|^2 = {}, r~'v = {}: the numbers overflow", s.iterations + 1,
                                       w2, product);
                  }};
  if (patient) return {};
  const bool direction = verdict == lost_direction;
  return ending{status::breakdown, [=, what = direction ? "r~'Ap" : "r~'r",
                                    value = slots[direction ? sigma : rho_next]](const standing& s) {
                  return fmt::format(
                      "iteration {}: {} = {:.3e} vanishes, with a relative residual of {:.3e}, and starting again did "
                      "not help: the matrix is singular to working precision, or needs another solver, such as gmres, "
                      "or another preconditioner",
                      s.iterations, what, value, s.relative);
                }};
}

namespace tfqmr_solver {

extern const solver_entry entry{"tfqmr",
                                "transpose-free quasi-minimal residuals, for matrices of any kind",
                                {},
                                fixed_vectors<tfqmr_method, 10>,
                                run_on_device<tfqmr_method, double>,
                                run_on_device<tfqmr_method, float>};

} // namespace tfqmr_solver
} // namespace furrow
