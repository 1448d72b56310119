// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of stencil cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::stencil_format::costs {

inline constexpr kernel_costs amd_runs{.start = 0.059,
                                       .memory = 0.0304,
                                       .by_slice = 0.22,
                                       .rows = 0.108,
                                       .longest = 0.394,
                                       .beyond = 0.335,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_runs{.start = 0.042,
                                       .memory = 0.07,
                                       .by_row = 0.126,
                                       .places = 0.0242,
                                       .surprising = 5,
                                       .longest = 0.23,
                                       .on_amd = &amd_runs};
inline constexpr kernel_costs gpu_table{
    .start = 0.846, .memory = 1.38, .by_slice = 0.073, .uneven = 0.486, .surprising = 4.49, .longest = 0.000947};

} // namespace furrow::stencil_format::costs
