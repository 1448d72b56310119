// SPDX-License-Identifier: BSD-3-Clause
#include "cr.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace cr_messages {

using solver_messages::standing;

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace cr_steps;
  const bool says_of_a = verdict == no_range || verdict == outgrown || verdict == indefinite;
  if (says_of_a && slots[zz] < 1e-160) verdict = zero_m; // r is near 1: products of such a z are anything
  switch (verdict) {
  case negative_m:
    return ending{status::not_positive_definite, [q_mq = slots[qmq]](const standing& s) {
                    return fmt::format(
                        "iteration {}: q'Mq = {:.6e} is negative, so the preconditioner is not positive definite",
                        s.iterations + 1, q_mq);
                  }};
  case no_range:
  case outgrown:
    if (patient) return {};
    return ending{
        status::singular, [](const standing& s) {
          return fmt::format(
              "the matrix is singular{} and b is not in its range: after {} A M r vanishes or x "
              "grows without end, at a relative residual of {:.3e}; take the part of b that A maps to zero out",
              s.single_precision ? " in single precision" : " to working precision", counted(s.iterations, "iteration"),
              s.relative);
        }};
  case indefinite:
    if (patient) return {};
    return ending{status::breakdown, [z_az = slots[zaz]](const standing& s) {
                    return fmt::format(
                        "after {} z'Az = {:.3e}, z = M r, vanishes where A z does not, with a relative "
                        "residual of {:.3e}, and starting again did not help: the matrix is indefinite; take minres",
                        counted(s.iterations, "iteration"), z_az, s.relative);
                  }};
  case zero_m:
    if (patient) return {};
    return ending{status::breakdown, [](const standing& s) {
                    return fmt::format("after {} M r vanishes where r does not, with a relative residual of "
                                       "{:.3e}: the preconditioner is singular to working precision",
                                       counted(s.iterations, "iteration"), s.relative);
                  }};
  default:
    return overflow({{"z'Az", slots[zaz]}, {"q'Mq", slots[qmq]}});
  }
}

} // namespace cr_messages

namespace cr_solver {

extern const solver_entry entry{"cr",
                                "conjugate residuals, for symmetric definite matrices; the residual never grows",
                                {{true, false}, {true, true}},
                                fixed_vectors<cr_method, 7>,
                                run_on_device<cr_method, double>,
                                run_on_device<cr_method, float>};

} // namespace cr_solver
} // namespace furrow
