// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of packed cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::packed_format::costs {

inline constexpr kernel_costs amd_unpacked{.start = 0.0925,
                                           .by_row = 0.237,
                                           .by_window = 0.2,
                                           .rows = 1.92,
                                           .places = 0.501,
                                           .longest = 7.43,
                                           .beyond = 0.238,
                                           .learned = 32768};
inline constexpr kernel_costs cpu_unpacked{.start = 0.101,
                                           .by_row = 0.227,
                                           .by_window = 0.2,
                                           .rows = 1.54,
                                           .places = 0.336,
                                           .uneven = 0.00857,
                                           .surprising = 0.675,
                                           .longest = 2.95,
                                           .on_amd = &amd_unpacked};
inline constexpr kernel_costs gpu_slices{.start = 0.532,
                                         .memory = 0.319,
                                         .by_row = 0.139,
                                         .by_slice = 0.108,
                                         .by_window = 1.06,
                                         .rows = 0.464,
                                         .places = 0.0585,
                                         .uneven = 0.0516,
                                         .longest = 48.5};
inline constexpr kernel_costs gpu_split{.start = 0.654,
                                        .memory = 0.694,
                                        .by_row = 0.097,
                                        .by_window = 0.809,
                                        .rows = 1.69,
                                        .places = 0.0773,
                                        .uneven = 0.236,
                                        .longest = 7};

} // namespace furrow::packed_format::costs
