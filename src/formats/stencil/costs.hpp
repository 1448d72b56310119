// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of stencil cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::stencil_format::costs {

inline constexpr kernel_costs cpu_runs{.start = 10, .memory = 0.45, .rows = 0.6, .places = 0.05};

} // namespace furrow::stencil_format::costs
