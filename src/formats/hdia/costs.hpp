// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of hdia cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::hdia_format::costs {

inline constexpr kernel_costs amd_strips{.start = 0.0219,
                                         .memory = 0.00749,
                                         .by_slice = 0.433,
                                         .by_window = 0.685,
                                         .rows = 0.101,
                                         .places = 0.0328,
                                         .uneven = 0.116,
                                         .longest = 9.58,
                                         .beyond = 0.355,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_strips{.start = 0.0271,
                                         .memory = 0.299,
                                         .by_slice = 0.0976,
                                         .by_window = 0.537,
                                         .places = 0.0523,
                                         .longest = 1.68,
                                         .on_amd = &amd_strips};
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
