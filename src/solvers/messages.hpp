// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <string>

/// The sentences of the ends that every solver can come to.
namespace furrow::solver_messages {

/// What is known where an iteration ends.
struct standing {
  index_t iterations = 0, restarts = 0;
  double relative = 0;       ///< residual of the x that is handed back, recomputed, over |b|
  double first_relative = 0; ///< of the first guess
  double relative_floor = 0; ///< below which rounding hides the residual of this x
  bool preconditioned = false, single_precision = false;
};

std::string converged(const standing& s);
std::string limit(const standing& s);
std::string interrupted(const standing& s);
std::string residual_not_finite(const standing& s);
std::string grown(const standing& s);
std::string too_slow(const standing& s);
std::string out_of_time(const standing& s);
std::string stagnated(const standing& s);
/// Where r'Mr vanishes and r does not.
std::string singular_preconditioner(const standing& s, double product);

/// What is to be said of an x whose residual is small and whose error was estimated: nothing where it is surely below 1
/// %. `condition`: of the preconditioned matrix, 0 where it is not known.
std::string inaccurate(double error, double condition, double relative_residual);

} // namespace furrow::solver_messages
