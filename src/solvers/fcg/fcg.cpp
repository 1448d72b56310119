// SPDX-License-Identifier: BSD-3-Clause
#include "fcg.hpp"

#include "core/counted.hpp"
#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace fcg_messages {
namespace {

using solver_messages::standing;

ending vanishing(double product) {
  return {status::breakdown, [=](const standing& s) { return solver_messages::singular_preconditioner(s, product); }};
}

} // namespace
} // namespace fcg_messages

std::optional<ending> fcg_messages::explain(int verdict, const double* slots, bool patient,
                                            const std::function<bool()>& is_indefinite) {
  using namespace fcg_steps;
  const double curvature = slots[pq], product = slots[rz_next];
  // The residual fell by all digits that there are: what scalars say behind that is rounding, as in cg.
  const bool says_of_a = verdict == negative_pq || verdict == negative_rz || verdict == outgrown;
  const bool fell = slots[control::rr] < 1e-30 * slots[rr_first];
  if (patient && says_of_a && fell) return {};
  // r is near 1: an M that makes so little of it, whose square is below all doubles, is to blame, and not A. Starting
  // again would go on with what rounding leaves.
  const double least = std::min(slots[rz], product);
  const bool says_nothing = verdict == zero_pq || verdict == zero_rz || verdict == outgrown;
  if (says_nothing && !fell && least < 1e-160) return vanishing(least);
  switch (verdict) {
  case control::not_finite:
    return overflow({{"p'Ap", curvature}, {"r'Mr", product}});
  case negative_pq:
    return ending{status::not_positive_definite, [=](const standing& s) {
                    return fmt::format(
                        "iteration {}: p'Ap = {:.6e} is negative, so the matrix is not positive definite; minres or "
                        "gmres needs no such matrix",
                        s.iterations + 1, curvature);
                  }};
  case negative_rz:
    return ending{status::not_positive_definite, [=](const standing& s) {
                    return fmt::format(
                        "iteration {}: r'Mr = {:.6e} is negative, so the preconditioner is not positive definite; "
                        "take another one, or fgmres",
                        s.iterations, product);
                  }};
  case zero_rz:
    if (patient) return {};
    return vanishing(product);
  default:
    if (verdict == zero_pq && patient) return {};
    if (slots[pp] == 0) return vanishing(slots[rz]);
    if (verdict == zero_pq && is_indefinite())
      return ending{status::not_positive_definite, [](const standing& s) {
                      return fmt::format("iteration {}: p'Ap = 0 where A p is not, so the matrix is indefinite; minres "
                                         "or gmres needs no definite one",
                                         s.iterations + 1);
                    }};
    if (verdict == outgrown && !std::isfinite(slots[xx])) return overflow({{"|x|", slots[xx]}}, 0);
    return ending{status::singular, [](const standing& s) {
                    return fmt::format(
                        "the matrix is singular to working precision and b is not in its range: after {} x "
                        "grows along vectors that A maps to zero; the best x has a relative residual of {:.3e}; take "
                        "their part out of b",
                        counted(s.iterations, "iteration"), s.relative);
                  }};
  }
}

namespace fcg_solver {

extern const solver_entry entry{"fcg",
                                "flexible conjugate gradients, whose preconditioner may be another one in each step",
                                {.a = {true, true}, .m = {true, true}, .flexible = true},
                                fixed_vectors<fcg_method, 5>,
                                run_on_device<fcg_method, double>,
                                run_on_device<fcg_method, float>};

} // namespace fcg_solver
} // namespace furrow
