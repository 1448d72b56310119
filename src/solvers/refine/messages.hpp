// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/ending.hpp"

#include <string_view>

namespace furrow::refine_messages {

ending not_finite();
/// The inner method gave nothing that could be added, and said why.
ending no_step(std::string_view method, status why, const std::string& message);
/// Corrections came and changed little. `condition`: of A, at least.
ending no_gain(std::string_view method, double condition);

} // namespace furrow::refine_messages
