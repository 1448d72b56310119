// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of csr cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::csr_format::costs {

inline constexpr kernel_costs amd_rows{.start = 0.0397,
                                       .by_slice = 0.0782,
                                       .by_window = 0.45,
                                       .rows = 1.51,
                                       .places = 0.251,
                                       .surprising = 6.92,
                                       .longest = 0.251,
                                       .beyond = 0.18,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_rows{.start = 0.0337,
                                       .by_row = 0.102,
                                       .by_slice = 0.197,
                                       .by_window = 0.2,
                                       .rows = 1.4,
                                       .places = 0.263,
                                       .surprising = 10,
                                       .longest = 0.263,
                                       .on_amd = &amd_rows};
inline constexpr kernel_costs amd_staged{.start = 0.0997,
                                         .by_slice = 0.142,
                                         .by_window = 0.728,
                                         .rows = 1.39,
                                         .places = 0.391,
                                         .surprising = 0.209,
                                         .longest = 0.391,
                                         .beyond = 0.219,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_staged{.start = 0.0575,
                                         .by_slice = 0.0403,
                                         .by_window = 0.307,
                                         .rows = 1.44,
                                         .places = 0.486,
                                         .surprising = 2.83,
                                         .longest = 0.486,
                                         .on_amd = &amd_staged};
inline constexpr kernel_costs amd_gathered{.start = 0.0363,
                                           .by_window = 0.297,
                                           .rows = 1.39,
                                           .places = 0.548,
                                           .surprising = 6.38,
                                           .longest = 0.548,
                                           .beyond = 0.0488,
                                           .learned = 32768};
inline constexpr kernel_costs cpu_gathered{.start = 0.0356,
                                           .by_row = 0.0656,
                                           .by_slice = 0.113,
                                           .by_window = 0.2,
                                           .rows = 1.77,
                                           .places = 0.329,
                                           .surprising = 8.81,
                                           .longest = 0.329,
                                           .on_amd = &amd_gathered};
inline constexpr kernel_costs amd_merge{.start = 0.0394,
                                        .by_slice = 0.0997,
                                        .by_window = 0.536,
                                        .rows = 1.53,
                                        .places = 0.248,
                                        .surprising = 4.19,
                                        .longest = 0.072,
                                        .beyond = 0.256,
                                        .learned = 32768};
inline constexpr kernel_costs cpu_merge{.start = 0.0373,
                                        .memory = 0.0107,
                                        .by_row = 0.0864,
                                        .by_slice = 0.205,
                                        .by_window = 0.2,
                                        .rows = 1.44,
                                        .places = 0.263,
                                        .surprising = 6.29,
                                        .on_amd = &amd_merge};
inline constexpr kernel_costs amd_scalar{.start = 0.0422,
                                         .by_window = 0.2,
                                         .rows = 0.764,
                                         .places = 0.619,
                                         .surprising = 5.79,
                                         .longest = 0.619,
                                         .beyond = 0.185,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_scalar{.start = 0.0214,
                                         .by_window = 0.2,
                                         .rows = 0.538,
                                         .places = 0.722,
                                         .uneven = 0.00199,
                                         .surprising = 10.8,
                                         .longest = 0.722,
                                         .on_amd = &amd_scalar};
inline constexpr kernel_costs gpu_stream{.start = 0.692,
                                         .by_row = 0.281,
                                         .by_slice = 0.688,
                                         .by_window = 0.858,
                                         .places = 0.175,
                                         .uneven = 0.13,
                                         .longest = 0.417};
inline constexpr kernel_costs gpu_chunks{.start = 0.471,
                                         .memory = 0.994,
                                         .by_row = 0.143,
                                         .by_window = 0.826,
                                         .rows = 0.84,
                                         .uneven = 0.608,
                                         .longest = 19.5};
inline constexpr kernel_costs gpu_segments{.start = 0.692,
                                           .memory = 0.484,
                                           .by_row = 0.417,
                                           .by_slice = 0.131,
                                           .by_window = 0.464,
                                           .places = 0.107,
                                           .longest = 0.0263};
inline constexpr kernel_costs gpu_merge{.start = 1.25,
                                        .memory = 0.69,
                                        .by_row = 0.774,
                                        .by_slice = 0.242,
                                        .by_window = 0.145,
                                        .rows = 0.517,
                                        .places = 0.296};
inline constexpr kernel_costs gpu_vector{.start = 0.561,
                                         .memory = 0.508,
                                         .by_row = 0.399,
                                         .by_window = 0.624,
                                         .places = 0.209,
                                         .uneven = 0.21,
                                         .longest = 9.02};
inline constexpr kernel_costs gpu_scalar{
    .start = 0.607, .by_slice = 2.38, .places = 0.219, .uneven = 0.0399, .longest = 47.8};
inline constexpr kernel_costs gpu_half_warp{
    .start = 0.611, .memory = 0.509, .by_row = 0.636, .by_window = 0.342, .rows = 3.9, .longest = 4.24};
inline constexpr kernel_costs gpu_naive{
    .start = 0.606, .by_slice = 2.52, .places = 0.203, .uneven = 0.0266, .longest = 47.9};

} // namespace furrow::csr_format::costs
