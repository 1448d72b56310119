// SPDX-License-Identifier: BSD-3-Clause
#include "cg_single_reduction.hpp"

#include "solvers/on_device.hpp"

#include <fmt/format.h>

namespace furrow {

std::optional<ending> cg_single_reduction_messages::explain(int verdict, const double* slots, bool patient,
                                                            const std::function<bool()>& is_indefinite) {
  using namespace cg_single_reduction_steps;
  using solver_messages::standing;
  if (verdict == negative_uw)
    return ending{status::not_positive_definite, [value = slots[uw]](const standing& s) {
                    return fmt::format("iteration {}: z'Az = {:.6e} is negative for z = M r, so the matrix is not "
                                       "positive definite",
                                       s.iterations + 1, value);
                  }};
  if (verdict != lost) return cg_messages::explain(verdict, slots, patient, is_indefinite);
  if (patient) return {};
  return ending{status::breakdown, [value = slots[cg_scalars::pq]](const standing& s) {
                  return fmt::format("iteration {}: p'Ap = {:.3e} by its recurrence is not positive, with a relative "
                                     "residual of {:.3e}: the matrix is not positive definite, or rounding has "
                                     "lost it; cg multiplies p itself by A and can tell",
                                     s.iterations + 1, value, s.relative);
                }};
}

namespace cg_single_reduction_solver {

extern const solver_entry entry{"cg_single_reduction",
                                "cg whose inner products of a step come together; one pass a step",
                                {{true, true}, {true, true}},
                                fixed_vectors<cg_single_reduction_method, 6>,
                                run_on_device<cg_single_reduction_method, double>,
                                run_on_device<cg_single_reduction_method, float>};

} // namespace cg_single_reduction_solver
} // namespace furrow
