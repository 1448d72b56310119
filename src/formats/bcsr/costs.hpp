// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of bcsr cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::bcsr_format::costs {

inline constexpr kernel_costs cpu_blocks{.start = 0.3,
                                         .memory = 0.0866,
                                         .by_slice = 0.232,
                                         .by_window = 0.6,
                                         .rows = 2.71,
                                         .places = 0.0725,
                                         .uneven = 0.0384,
                                         .longest = 12.1};
inline constexpr kernel_costs gpu_blocks{.start = 0.751, .memory = 1.07, .longest = 6.06};

} // namespace furrow::bcsr_format::costs
