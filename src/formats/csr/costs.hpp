// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of csr cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::csr_format::costs {

inline constexpr kernel_costs cpu_rows{.start = 0.566,
                                       .memory = 0.0198,
                                       .by_row = 0.0905,
                                       .by_slice = 0.0341,
                                       .by_window = 0.844,
                                       .rows = 0.625,
                                       .places = 0.206,
                                       .uneven = 0.000522,
                                       .surprising = 7.27,
                                       .longest = 0.206};
inline constexpr kernel_costs cpu_staged{.start = 0.3,
                                         .memory = 0.0252,
                                         .by_window = 0.6,
                                         .rows = 0.552,
                                         .places = 0.418,
                                         .uneven = 0.00111,
                                         .surprising = 2.55,
                                         .longest = 0.418};
inline constexpr kernel_costs cpu_gathered{.start = 0.444,
                                           .by_row = 0.079,
                                           .by_window = 1.08,
                                           .rows = 0.92,
                                           .places = 0.239,
                                           .surprising = 6.04,
                                           .longest = 0.239};
inline constexpr kernel_costs cpu_merge{.start = 0.46,
                                        .memory = 0.056,
                                        .by_row = 0.0249,
                                        .by_slice = 0.0418,
                                        .by_window = 0.764,
                                        .rows = 0.859,
                                        .places = 0.207,
                                        .surprising = 7.54};
inline constexpr kernel_costs cpu_scalar{
    .start = 0.3, .by_window = 0.6, .places = 0.603, .uneven = 0.00274, .surprising = 7.7, .longest = 0.603};
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
