// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of sell cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::sell_format::costs {

inline constexpr kernel_costs cpu_vectors{.start = 0.694,
                                          .memory = 0.145,
                                          .by_row = 0.0453,
                                          .by_slice = 0.105,
                                          .by_window = 0.709,
                                          .rows = 0.233,
                                          .places = 0.134,
                                          .uneven = 0.0145,
                                          .surprising = 0.638,
                                          .longest = 1.11};
inline constexpr kernel_costs cpu_scalar{.start = 0.691,
                                         .memory = 0.129,
                                         .by_row = 0.114,
                                         .by_slice = 0.0913,
                                         .by_window = 0.6,
                                         .rows = 0.45,
                                         .places = 0.423,
                                         .uneven = 0.0371,
                                         .surprising = 0.0161,
                                         .longest = 2.66};
inline constexpr kernel_costs gpu_slices{.start = 0.558,
                                         .memory = 0.309,
                                         .by_row = 0.18,
                                         .by_slice = 0.0295,
                                         .by_window = 1.04,
                                         .places = 0.141,
                                         .uneven = 0.0871,
                                         .longest = 32.6};
inline constexpr kernel_costs gpu_split{.start = 0.641,
                                        .memory = 0.381,
                                        .by_row = 0.137,
                                        .by_slice = 0.00921,
                                        .by_window = 0.763,
                                        .rows = 1.94,
                                        .places = 0.134,
                                        .uneven = 0.303,
                                        .longest = 7.03};

} // namespace furrow::sell_format::costs
