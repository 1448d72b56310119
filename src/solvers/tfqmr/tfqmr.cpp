// SPDX-License-Identifier: BSD-3-Clause
#include "tfqmr.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace tfqmr_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace tfqmr_steps;
  if (verdict == control::not_finite) return overflow({{"r~'w", slots[rho_next]}, {"r~'v", slots[sigma]}});
  if (patient) return {};
  const bool direction = verdict == lost_direction;
  return ending{status::breakdown,
                [what = direction ? "r~'v" : "r~'w", value = slots[direction ? sigma : rho_next]](const standing& s) {
                  return fmt::format("after {} {} = {:.3e} vanishes, with a relative residual of {:.3e}, and "
                                     "starting again did not help: the matrix is singular to working precision, or "
                                     "needs another solver (gmres) or preconditioner",
                                     counted(s.iterations, "iteration"), what, value, s.relative);
                }};
}

} // namespace tfqmr_messages

namespace tfqmr_solver {

extern const solver_entry entry{"tfqmr",
                                "transpose-free quasi-minimal residuals, for matrices of any kind; a smooth curve",
                                {},
                                fixed_vectors<tfqmr_method, 10>,
                                run_on_device<tfqmr_method, double>,
                                run_on_device<tfqmr_method, float>};

} // namespace tfqmr_solver
} // namespace furrow
