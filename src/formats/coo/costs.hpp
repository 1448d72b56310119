// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of coo cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::coo_format::costs {

inline constexpr kernel_costs cpu_rows{.start = 1.65,
                                       .memory = 0.0164,
                                       .by_row = 0.0259,
                                       .by_slice = 0.168,
                                       .by_window = 0.656,
                                       .rows = 1.06,
                                       .places = 0.685,
                                       .uneven = 0.000486,
                                       .surprising = 7.21,
                                       .longest = 0.169};
inline constexpr kernel_costs gpu_segmented{
    .start = 2.49, .memory = 1.38, .by_row = 0.465, .by_window = 7.45e-05, .places = 0.254, .longest = 0.0278};

} // namespace furrow::coo_format::costs
