// SPDX-License-Identifier: BSD-3-Clause
#include "idr.hpp"

#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace idr_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace idr_steps;
  if (verdict == control::not_finite) return overflow({{"|A u|", slots[squares]}, {"|A M r|", slots[tt]}});
  if (patient) return {};
  if (verdict == lost_step)
    return ending{status::singular, [](const standing& s) {
                    return fmt::format("iteration {}: A M maps what is left of the residual to 0, so the matrix or the "
                                       "preconditioner is singular to working precision; the best x has a relative "
                                       "residual of {:.3e}",
                                       s.iterations, s.relative);
                  }};
  return ending{status::breakdown, [value = slots[lost]](const standing& s) {
                  return fmt::format("iteration {}: p'g = {:.3e} vanishes beside P'A u, with a relative residual of "
                                     "{:.3e}, and starting again did not help: the matrix is singular to working "
                                     "precision, or needs another solver or preconditioner",
                                     s.iterations, value, s.relative);
                }};
}

} // namespace idr_messages

namespace idr_solver {

extern const solver_entry entry{"idr",
                                "induced dimension reduction, for matrices of any kind",
                                {},
                                induced_dimension_reduction<cpu::space<double>>::vectors,
                                run_on_device<idr_method, double>,
                                run_on_device<idr_method, float>,
                                "[:S]"};

} // namespace idr_solver
} // namespace furrow
