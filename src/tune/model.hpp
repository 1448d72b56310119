// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

namespace furrow {

/// Seconds that y = A x is expected to take: the sum that `kernel_costs` describes. Costs that nobody has measured,
/// null, count as latency plus bytes.
double expected_seconds(const kernel_costs* costs, const stats& s, precision p, const layout& l, const machine& m);

} // namespace furrow
