// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/ending.hpp"

#include <optional>

namespace furrow::cg_messages {

/// The end that a verdict of conjugate gradients means. `patient`: empty for one that starting again may mend.
/// `is_indefinite`: says of a p'Ap that is 0 whether A p is not.
std::optional<ending> explain(int verdict, const double* slots, bool patient,
                              const std::function<bool()>& is_indefinite = {});

} // namespace furrow::cg_messages
