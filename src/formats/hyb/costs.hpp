// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of hyb cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::hyb_format::costs {

inline constexpr kernel_costs cpu_rows{.start = 0.3,
                                       .memory = 0.136,
                                       .by_slice = 0.291,
                                       .by_window = 0.6,
                                       .places = 0.307,
                                       .uneven = 9.91e-05,
                                       .surprising = 3.72,
                                       .longest = 50.6};
inline constexpr kernel_costs cpu_gathered{.start = 0.3,
                                           .memory = 0.12,
                                           .by_slice = 0.286,
                                           .by_window = 0.6,
                                           .places = 0.328,
                                           .uneven = 0.000111,
                                           .surprising = 3.6,
                                           .longest = 46.3};
inline constexpr kernel_costs cpu_scalar{.start = 0.3,
                                         .memory = 0.195,
                                         .by_row = 0.0818,
                                         .by_window = 0.6,
                                         .places = 0.556,
                                         .uneven = 0.00183,
                                         .surprising = 7.28,
                                         .longest = 21};
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
