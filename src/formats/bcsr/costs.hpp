// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of bcsr cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::bcsr_format::costs {

inline constexpr kernel_costs amd_blocks{.start = 0.00468,
                                         .by_row = 0.0726,
                                         .by_slice = 0.155,
                                         .by_window = 0.2,
                                         .rows = 2.84,
                                         .places = 0.119,
                                         .longest = 5.39,
                                         .beyond = 0.105,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_blocks{.start = 0.0268,
                                         .memory = 0.0869,
                                         .by_slice = 0.246,
                                         .by_window = 0.505,
                                         .rows = 1.05,
                                         .places = 0.161,
                                         .uneven = 0.0354,
                                         .surprising = 2.67,
                                         .on_amd = &amd_blocks};
inline constexpr kernel_costs gpu_blocks{.start = 0.751, .memory = 1.07, .longest = 6.06};

} // namespace furrow::bcsr_format::costs
