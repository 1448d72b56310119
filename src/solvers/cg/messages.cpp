// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"
#include "judge.hpp"

#include "core/counted.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow::cg_messages {
namespace {

using solver_messages::standing;

ending negative_pq(double pq) {
  return {status::not_positive_definite, [pq](const standing& s) {
            return fmt::format("iteration {}: p'Ap = {:.6e} is negative, so the matrix is not positive definite",
                               s.iterations + 1, pq);
          }};
}

ending indefinite() {
  return {status::not_positive_definite, [](const standing& s) {
            return fmt::format("iteration {}: p'Ap = 0 where A p is not, so the matrix is indefinite; minres needs no "
                               "definite one",
                               s.iterations + 1);
          }};
}

ending negative_rz(double rz) {
  return {status::not_positive_definite, [rz](const standing& s) {
            return fmt::format(
                "iteration {}: r'Mr = {:.6e} is negative, so the preconditioner is not positive definite", s.iterations,
                rz);
          }};
}

ending zero_rz(double rz) {
  return {status::breakdown, [rz](const standing& s) { return solver_messages::singular_preconditioner(s, rz); }};
}

ending singular() {
  return {status::singular, [](const standing& s) {
            return fmt::format("the matrix is singular{} and b is not in its range: after {} x grows along "
                               "vectors that A maps to zero; the best x has a relative residual of {:.3e}; take their "
                               "part out of b{}",
                               s.single_precision ? " in single precision" : " to working precision",
                               counted(s.iterations, "iteration"), s.relative,
                               s.single_precision ? ", or use f64" : "");
          }};
}

/// Whether the residual fell by all digits that there are. What scalars say behind that is rounding: of a singular
/// matrix whose range b is not in the residual does not fall so far.
bool fell_to_rounding(const double* slots) {
  return std::abs(slots[cg_scalars::rz]) < 1e-30 * std::abs(slots[cg_scalars::rz_first]);
}

} // namespace

std::optional<ending> explain(int verdict, const double* slots, bool patient,
                              const std::function<bool()>& is_indefinite) {
  const bool says_of_a =
      verdict == cg_scalars::negative_pq || verdict == cg_scalars::negative_rz || verdict == cg_scalars::outgrown;
  if (patient && says_of_a && fell_to_rounding(slots)) return {};
  switch (verdict) {
  case cg_scalars::negative_pq:
    return negative_pq(slots[cg_scalars::pq]);
  case cg_scalars::negative_rz:
    return negative_rz(slots[slots[cg_scalars::rz] < 0 ? cg_scalars::rz : cg_scalars::rz_next]);
  case cg_scalars::outgrown:
    return std::isfinite(slots[cg_scalars::xx]) ? singular() : overflow({{"x'M^-1 x", slots[cg_scalars::xx]}}, 0);
  case cg_scalars::zero_pq: // p'r = r'z > 0: where A p is 0, too, b has a part along the null space
    if (patient) return {};
    // r is near 1: an M that makes this little of it, whose square is below all doubles, is to blame, not A.
    if (slots[cg_scalars::rz] < 1e-160) return zero_rz(slots[cg_scalars::rz]);
    return is_indefinite && is_indefinite() ? indefinite() : singular();
  case cg_scalars::zero_rz:
    if (patient) return {};
    return zero_rz(slots[cg_scalars::rz_next]);
  default:
    return overflow({{"p'Ap", slots[cg_scalars::pq]}, {"r'Mr", slots[cg_scalars::rz_next]}});
  }
}

} // namespace furrow::cg_messages
