// SPDX-License-Identifier: BSD-3-Clause
#include "bidiagonal.hpp"

#include "core/counted.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow::bidiagonal_messages {

ending least_squares(double ratio, double damping, bool up_to_rounding) {
  return {status::least_squares, [=](const solver_messages::standing& s) {
            const char* const how = up_to_rounding ? " as far as rounding lets it" : "";
            if (damping > 0)
              return fmt::format("x minimises |b - A x|^2 + {0}^2 |x|^2{1}: the relative residual is {2:.3e}, "
                                 "|A'r - {0}^2 x| / (|A| |r|) = {3:.1e}, after {4}",
                                 damping, how, s.relative, ratio, counted(s.iterations, "iteration"));
            return fmt::format("b is not in the range of A: x minimises |b - A x|{}; the relative residual is {:.3e}, "
                               "|A'r| / (|A| |r|) = {:.1e}, after {}",
                               how, s.relative, ratio, counted(s.iterations, "iteration"));
          }};
}

std::optional<ending> explain(int verdict, const double* slots, bool patient, double ratio, bool by_itself) {
  using namespace bidiagonal_steps;
  if (verdict == control::not_finite) return overflow({{"|A v|", slots[uu]}, {"|A'u|", slots[vv]}});
  if (patient) return {};
  if (!by_itself && ratio > 0.1 && ratio < 1) // the verdict: M'A'r is next to nothing; 1: not known
    return ending{status::breakdown, [ratio](const solver_messages::standing& s) {
                    return fmt::format("after {} and {} M'A'r vanishes where |A'r| / (|A| |r|) is {:.1e}, with a "
                                       "relative residual of {:.3e}: the preconditioner is singular to working "
                                       "precision",
                                       counted(s.iterations, "iteration"), counted(s.restarts, "restart"), ratio,
                                       s.relative);
                  }};
  return ending{status::stagnated, [ratio](const solver_messages::standing& s) {
                  return fmt::format("the relative residual stays at {:.3e} after {} and {}, and "
                                     "|A'r| / (|A| |r|) at {:.1e}: rounding limits this matrix{}",
                                     s.relative, counted(s.iterations, "iteration"), counted(s.restarts, "restart"),
                                     ratio, s.single_precision ? "; use f64" : "");
                }};
}

} // namespace furrow::bidiagonal_messages
