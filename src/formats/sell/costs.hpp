// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of sell cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::sell_format::costs {

inline constexpr kernel_costs amd_vectors{.start = 0.0471,
                                          .by_row = 0.192,
                                          .by_slice = 0.13,
                                          .by_window = 0.281,
                                          .rows = 0.417,
                                          .places = 0.356,
                                          .surprising = 1.16,
                                          .longest = 7.7,
                                          .beyond = 0.139,
                                          .learned = 32768};
inline constexpr kernel_costs cpu_vectors{.start = 0.0403,
                                          .memory = 0.125,
                                          .by_row = 0.073,
                                          .by_slice = 0.143,
                                          .by_window = 0.472,
                                          .rows = 0.334,
                                          .places = 0.193,
                                          .uneven = 0.0176,
                                          .surprising = 1.46,
                                          .longest = 1.59,
                                          .on_amd = &amd_vectors};
inline constexpr kernel_costs amd_scalar{.start = 0.0363,
                                         .by_row = 0.122,
                                         .by_slice = 0.0631,
                                         .by_window = 0.203,
                                         .rows = 0.787,
                                         .places = 0.519,
                                         .longest = 10.7,
                                         .beyond = 0.123,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_scalar{.start = 0.0385,
                                         .memory = 0.0801,
                                         .by_row = 0.248,
                                         .by_slice = 0.0705,
                                         .by_window = 0.2,
                                         .rows = 0.251,
                                         .places = 0.589,
                                         .uneven = 0.0198,
                                         .surprising = 1.66,
                                         .longest = 6.8,
                                         .on_amd = &amd_scalar};
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
