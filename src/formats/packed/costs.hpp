// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of packed cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::packed_format::costs {

inline constexpr kernel_costs cpu_unpacked{.start = 0.3,
                                           .memory = 0.0179,
                                           .by_row = 0.157,
                                           .by_slice = 0.0874,
                                           .by_window = 0.6,
                                           .rows = 1.01,
                                           .places = 0.26,
                                           .uneven = 0.0207,
                                           .surprising = 0.416};
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
