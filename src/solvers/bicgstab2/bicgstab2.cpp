// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab2.hpp"

#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace bicgstab2_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace bicgstab2_steps;
  if (verdict == control::not_finite)
    return overflow({{"r~'AMu", slots[sigma]}, {"r~'AMu1", slots[sigma_two]}, {"|(AM)^2 r|", slots[r2r2]}});
  if (patient) return {};
  if (verdict == lost_step)
    return ending{status::singular, [](const standing& s) {
                    return fmt::format("iteration {}: (A M)^2 maps what is left of the residual to 0, so the matrix "
                                       "or the preconditioner is singular to working precision; the best x has a "
                                       "relative residual of {:.3e}",
                                       s.iterations, s.relative);
                  }};
  const bool shadow = verdict == lost_shadow, first = slots[sigma] == 0;
  const char* const what = shadow ? "r~'r" : first ? "r~'AMu" : "r~'AMu1";
  const double value = shadow ? slots[rho] : first ? slots[sigma] : slots[sigma_two];
  return ending{status::breakdown, [=](const standing& s) {
                  return fmt::format("iteration {}: {} = {:.3e} vanishes, with a relative residual of {:.3e}, and "
                                     "starting again did not help: the matrix is singular to working precision, or "
                                     "needs another solver or preconditioner",
                                     s.iterations, what, value, s.relative);
                }};
}

} // namespace bicgstab2_messages

namespace bicgstab2_solver {

extern const solver_entry entry{"bicgstab2",
                                "BiCGStab with residual polynomials of degree 2, for eigenvalues far off the real axis",
                                {},
                                fixed_vectors<bicgstab2_method, 12>,
                                run_on_device<bicgstab2_method, double>,
                                run_on_device<bicgstab2_method, float>};

} // namespace bicgstab2_solver
} // namespace furrow
