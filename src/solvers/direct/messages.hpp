// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/ending.hpp"

#include <optional>

namespace furrow::direct_messages {

/// The end that a verdict of iterative refinement means.
std::optional<ending> explain(int verdict, const double* slots, bool patient);

} // namespace furrow::direct_messages
