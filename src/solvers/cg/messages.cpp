// SPDX-License-Identifier: BSD-3-Clause
#include "messages.hpp"

#include <fmt/format.h>

namespace furrow::cg_messages {

std::string converged(index_t iterations) { return fmt::format("converged in {} iterations", iterations); }

std::string limit(index_t iterations, double relative_residual) {
  return fmt::format(
      "stopped at the limit of {} iterations with a relative residual of {:.3e}: allow more iterations or use "
      "a stronger preconditioner",
      iterations, relative_residual);
}

std::string interrupted(index_t iterations) { return fmt::format("interrupted after {} iterations", iterations); }

std::string residual_not_finite(index_t iterations) {
  return fmt::format("the residual is not a finite number after {} iterations: the numbers overflow", iterations);
}

std::string not_finite(index_t iteration, double pq, double rr) {
  return fmt::format("iteration {}: p'Ap = {}, r'r = {}", iteration, pq, rr);
}

std::string negative_pq(index_t iteration, double pq) {
  return fmt::format("iteration {}: p'Ap = {:.6e} is negative, so the matrix is not positive definite", iteration, pq);
}

std::string negative_rz(index_t iteration, double rz) {
  return fmt::format("iteration {}: r'Mr = {:.6e} is negative, so the preconditioner is not positive definite",
                     iteration, rz);
}

std::string grown(index_t iteration, double factor) {
  return fmt::format("iteration {}: the residual grew to {:.3e} times its first value", iteration, factor);
}

std::string zero(index_t iteration, const char* what, double value, double relative_residual) {
  return fmt::format(
      "iteration {}: {} = {:.3e} is zero within rounding, with a relative residual of {:.3e}: the matrix is "
      "singular or not positive definite to working precision",
      iteration, what, value, relative_residual);
}

std::string stagnated(index_t iterations, index_t restarts, double relative_residual, bool single_precision) {
  return fmt::format(
      "the relative residual stays at {:.3e} after {} iterations and {} restarts: rounding limits this matrix; "
      "ask for a larger tolerance or use {}",
      relative_residual, iterations, restarts, single_precision ? "f64" : "a stronger preconditioner");
}

} // namespace furrow::cg_messages
