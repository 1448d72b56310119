// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of dense cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::dense_format::costs {

inline constexpr kernel_costs amd_along{.start = 0.0112,
                                        .memory = 0.0906,
                                        .by_slice = 0.602,
                                        .by_window = 38.1,
                                        .rows = 3.78,
                                        .places = 0.0141,
                                        .beyond = 0.296,
                                        .learned = 32768};
inline constexpr kernel_costs cpu_along{
    .start = 0.0623, .memory = 0.392, .by_window = 1.17, .places = 0.0212, .longest = 1.84, .on_amd = &amd_along};
inline constexpr kernel_costs gpu_along{.start = 1.78, .memory = 0.278, .places = 0.0386};
inline constexpr kernel_costs gpu_naive{.start = 12.2, .by_row = 735};
inline constexpr kernel_costs gpu_tiled{.start = 10.5, .by_row = 757};

} // namespace furrow::dense_format::costs
