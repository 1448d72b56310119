// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace bicgstab_messages {
namespace {

ending breakdown(const char* what, double value) {
  return {status::breakdown, [=](const solver_messages::standing& s) {
            return fmt::format(
                "iteration {}: {} = {:.3e} vanishes, with a relative residual of {:.3e}, and starting "
                "again did not help: the matrix is singular to working precision, or needs another solver "
                "or preconditioner",
                s.iterations, what, value, s.relative);
          }};
}

} // namespace

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace bicgstab_steps;
  if (verdict == control::not_finite) return overflow({{"r~'r", slots[rho]}, {"r~'Ap", slots[sigma]}});
  if (patient) return {};
  switch (verdict) {
  case lost_direction:
    return breakdown("r~'Ap", slots[sigma]);
  case lost_step:
    return breakdown("t't", slots[tt]);
  default:
    return breakdown("r~'r", slots[rho]);
  }
}

} // namespace bicgstab_messages

namespace bicgstab_solver {

extern const solver_entry entry{"bicgstab",
                                "stabilised biconjugate gradients, for matrices of any kind",
                                {},
                                fixed_vectors<bicgstab_method, 8>,
                                run_on_device<bicgstab_method, double>,
                                run_on_device<bicgstab_method, float>};

} // namespace bicgstab_solver
} // namespace furrow
