// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of hdia cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::hdia_format::costs {

inline constexpr kernel_costs cpu_strips{
    .start = 0.0271, .memory = 0.299, .by_slice = 0.0976, .by_window = 0.537, .places = 0.0523, .longest = 1.68};
inline constexpr kernel_costs gpu_strips{.start = 0.541,
                                         .memory = 0.316,
                                         .by_slice = 0.159,
                                         .by_window = 1.13,
                                         .rows = 0.645,
                                         .places = 0.136,
                                         .longest = 86.1};
inline constexpr kernel_costs gpu_split{
    .start = 0.593, .by_slice = 0.561, .by_window = 0.5, .rows = 3.63, .places = 0.181, .longest = 25.4};

} // namespace furrow::hdia_format::costs
