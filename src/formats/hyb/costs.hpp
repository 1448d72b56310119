// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of hyb cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::hyb_format::costs {

inline constexpr kernel_costs amd_rows{.start = 0.0314,
                                       .by_slice = 0.437,
                                       .by_window = 0.2,
                                       .rows = 0.0669,
                                       .places = 0.499,
                                       .surprising = 3.12,
                                       .longest = 13.5,
                                       .beyond = 0.535,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_rows{.start = 0.0432,
                                       .memory = 0.119,
                                       .by_slice = 0.374,
                                       .by_window = 0.2,
                                       .places = 0.387,
                                       .uneven = 0.000196,
                                       .surprising = 6.03,
                                       .longest = 0.047,
                                       .on_amd = &amd_rows};
inline constexpr kernel_costs amd_gathered{.start = 0.0216,
                                           .by_slice = 0.266,
                                           .by_window = 0.2,
                                           .rows = 0.645,
                                           .places = 0.59,
                                           .surprising = 2.35,
                                           .longest = 17.7,
                                           .beyond = 0.495,
                                           .learned = 32768};
inline constexpr kernel_costs cpu_gathered{.start = 0.0446,
                                           .memory = 0.133,
                                           .by_slice = 0.32,
                                           .by_window = 0.2,
                                           .places = 0.413,
                                           .surprising = 5.53,
                                           .on_amd = &amd_gathered};
inline constexpr kernel_costs amd_scalar{.start = 0.0201,
                                         .by_slice = 0.215,
                                         .by_window = 0.2,
                                         .rows = 0.733,
                                         .places = 0.693,
                                         .surprising = 8.47,
                                         .longest = 5.05,
                                         .beyond = 0.212,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_scalar{.start = 0.0231,
                                         .memory = 0.163,
                                         .by_slice = 0.274,
                                         .by_window = 0.2,
                                         .rows = 0.994,
                                         .places = 0.648,
                                         .uneven = 0.000792,
                                         .surprising = 7.72,
                                         .on_amd = &amd_scalar};
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
