// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/kernel_costs.hpp"

/// What products by the kernels of ell cost. The numbers are written by bench/fit_costs.py --write.
namespace furrow::ell_format::costs {

inline constexpr kernel_costs amd_rows{.start = 0.0219,
                                       .by_slice = 0.0112,
                                       .by_window = 0.527,
                                       .rows = 0.126,
                                       .places = 0.327,
                                       .uneven = 0.769,
                                       .longest = 18.3,
                                       .beyond = 0.663,
                                       .learned = 32768};
inline constexpr kernel_costs cpu_rows{.start = 0.0329,
                                       .memory = 0.149,
                                       .by_slice = 0.0856,
                                       .by_window = 0.2,
                                       .places = 0.329,
                                       .uneven = 0.206,
                                       .surprising = 1.17,
                                       .longest = 5,
                                       .on_amd = &amd_rows};
inline constexpr kernel_costs amd_gathered{.start = 0.0222,
                                           .by_window = 0.488,
                                           .rows = 0.467,
                                           .places = 0.445,
                                           .uneven = 0.387,
                                           .longest = 19.1,
                                           .beyond = 0.578,
                                           .learned = 32768};
inline constexpr kernel_costs cpu_gathered{.start = 0.0433,
                                           .memory = 0.119,
                                           .by_slice = 0.083,
                                           .by_window = 0.2,
                                           .rows = 0.0692,
                                           .places = 0.377,
                                           .uneven = 0.0396,
                                           .surprising = 0.738,
                                           .longest = 3.01,
                                           .on_amd = &amd_gathered};
inline constexpr kernel_costs amd_scalar{.start = 0.0108,
                                         .by_slice = 0.539,
                                         .by_window = 0.358,
                                         .rows = 0.865,
                                         .places = 0.397,
                                         .surprising = 17.5,
                                         .longest = 4.99,
                                         .beyond = 0.26,
                                         .learned = 32768};
inline constexpr kernel_costs cpu_scalar{.start = 0.0106,
                                         .memory = 0.0572,
                                         .by_row = 0.442,
                                         .by_slice = 0.0161,
                                         .by_window = 0.2,
                                         .rows = 1.12,
                                         .places = 0.436,
                                         .surprising = 12,
                                         .on_amd = &amd_scalar};
inline constexpr kernel_costs gpu_tiles{
    .start = 0.371, .memory = 0.722, .by_row = 0.146, .by_window = 0.899, .places = 0.00503, .longest = 126};
inline constexpr kernel_costs gpu_scalar{
    .start = 0.152, .memory = 0.997, .by_row = 0.0454, .by_window = 0.846, .longest = 328};

} // namespace furrow::ell_format::costs
