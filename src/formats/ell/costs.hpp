// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of ell cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::ell_format::costs {

inline constexpr kernel_costs cpu_rows{.start = 0.572,
                                       .memory = 0.105,
                                       .by_slice = 0.157,
                                       .by_window = 0.75,
                                       .places = 0.24,
                                       .surprising = 0.781,
                                       .longest = 43.7};
inline constexpr kernel_costs cpu_gathered{.start = 0.442,
                                           .memory = 0.094,
                                           .by_slice = 0.19,
                                           .by_window = 0.945,
                                           .places = 0.24,
                                           .surprising = 0.438,
                                           .longest = 58.4};
inline constexpr kernel_costs cpu_scalar{.start = 1.72,
                                         .memory = 0.135,
                                         .by_row = 0.269,
                                         .by_slice = 0.0697,
                                         .by_window = 0.6,
                                         .rows = 0.659,
                                         .places = 0.317,
                                         .surprising = 7.22};
inline constexpr kernel_costs gpu_tiles{
    .start = 0.371, .memory = 0.722, .by_row = 0.146, .by_window = 0.899, .places = 0.00503, .longest = 126};
inline constexpr kernel_costs gpu_scalar{
    .start = 0.152, .memory = 0.997, .by_row = 0.0454, .by_window = 0.846, .longest = 328};

} // namespace furrow::ell_format::costs
