// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/ending.hpp"

#include <optional>
#include <string>

namespace furrow::direct_messages {

/// The end that a verdict of iterative refinement means. `rounding`: of a residual, a bound; within it none grows.
std::optional<ending> explain(int verdict, const double* slots, double rounding);

/// Whether so much of x may be off that a person is told.
inline bool is_large(double error_estimate) { return !(error_estimate <= 0.01); }

/// What is to be said of an x whose elements may be off by `error_estimate`: nothing up to 1 %.
std::string warning(double error_estimate, double condition);

/// The same where factors do not tell.
std::string nobody_knows();
/// The same of a library that made pivots larger.
std::string pivots_were_raised();

} // namespace furrow::direct_messages
