// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <string>

/// What conjugate gradients say when they stop: one sentence each, with the number that triggered it.
namespace furrow::cg_messages {

std::string converged(index_t iterations);
std::string limit(index_t iterations, double relative_residual);
std::string interrupted(index_t iterations);
std::string residual_not_finite(index_t iterations);
std::string not_finite(index_t iteration, double pq, double rr);
std::string negative_pq(index_t iteration, double pq);
std::string negative_rz(index_t iteration, double rz);
std::string grown(index_t iteration, double factor);
std::string zero(index_t iteration, const char* what, double value, double relative_residual);
std::string stagnated(index_t iterations, index_t restarts, double relative_residual, bool single_precision);

} // namespace furrow::cg_messages
