// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of stencil cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::stencil_format::costs {

inline constexpr kernel_costs cpu_runs{
    .start = 0.042, .memory = 0.07, .by_row = 0.126, .places = 0.0242, .surprising = 5, .longest = 0.23};

} // namespace furrow::stencil_format::costs
