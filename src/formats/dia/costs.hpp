// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of dia cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::dia_format::costs {

inline constexpr kernel_costs amd_rows{.start = 0.0223,
                                       .memory = 0.0281,
                                       .by_slice = 0.34,
                                       .by_window = 0.291,
                                       .rows = 0.0892,
                                       .places = 0.0299,
                                       .uneven = 0.0944,
                                       .longest = 13.4,
                                       .beyond = 0.478,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_rows{.start = 0.00315,
                                       .memory = 0.31,
                                       .by_slice = 0.133,
                                       .by_window = 0.2,
                                       .places = 0.0238,
                                       .longest = 14.8,
                                       .on_amd = &amd_rows};
inline constexpr kernel_costs gpu_tiles{.start = 0.462,
                                        .memory = 0.715,
                                        .by_row = 0.0471,
                                        .by_slice = 0.175,
                                        .by_window = 0.36,
                                        .rows = 0.0804,
                                        .longest = 145};
inline constexpr kernel_costs gpu_rows{
    .start = 0.372, .by_slice = 1.13, .rows = 1.08, .places = 0.0456, .longest = 183};

} // namespace furrow::dia_format::costs
