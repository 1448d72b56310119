// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of coo cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::coo_format::costs {

inline constexpr kernel_costs amd_rows{.start = 0.0254,
                                       .by_row = 0.0998,
                                       .by_slice = 0.087,
                                       .by_window = 0.248,
                                       .rows = 3.18,
                                       .places = 0.779,
                                       .surprising = 5.05,
                                       .longest = 2,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_rows{.start = 0.0215,
                                       .memory = 0.0232,
                                       .by_slice = 0.444,
                                       .by_window = 0.2,
                                       .rows = 1.41,
                                       .places = 0.871,
                                       .surprising = 11.1,
                                       .longest = 0.474,
                                       .on_amd = &amd_rows};
inline constexpr kernel_costs gpu_segmented{
    .start = 2.49, .memory = 1.38, .by_row = 0.465, .by_window = 7.45e-05, .places = 0.254, .longest = 0.0278};

} // namespace furrow::coo_format::costs
