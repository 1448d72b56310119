// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of hyb cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::hyb_format::costs {

inline constexpr kernel_costs cpu_rows{.start = 0.0432,
                                       .memory = 0.119,
                                       .by_slice = 0.374,
                                       .by_window = 0.2,
                                       .places = 0.387,
                                       .uneven = 0.000196,
                                       .surprising = 6.03,
                                       .longest = 0.047};
inline constexpr kernel_costs cpu_gathered{
    .start = 0.0446, .memory = 0.133, .by_slice = 0.32, .by_window = 0.2, .places = 0.413, .surprising = 5.53};
inline constexpr kernel_costs cpu_scalar{.start = 0.0231,
                                         .memory = 0.163,
                                         .by_slice = 0.274,
                                         .by_window = 0.2,
                                         .rows = 0.994,
                                         .places = 0.648,
                                         .uneven = 0.000792,
                                         .surprising = 7.72};
inline constexpr kernel_costs gpu_tiles{.start = 2.55,
                                        .memory = 0.576,
                                        .by_slice = 0.129,
                                        .by_window = 1.09,
                                        .rows = 0.108,
                                        .places = 0.0728,
                                        .uneven = 0.00372,
                                        .longest = 22.9};
inline constexpr kernel_costs gpu_scalar{.start = 2.44,
                                         .memory = 0.722,
                                         .by_slice = 0.0376,
                                         .by_window = 0.984,
                                         .places = 0.165,
                                         .uneven = 0.00336,
                                         .longest = 225};

} // namespace furrow::hyb_format::costs
