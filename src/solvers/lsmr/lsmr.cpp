// SPDX-License-Identifier: BSD-3-Clause
#include "lsmr.hpp"

#include "solvers/on_device.hpp"

namespace furrow::lsmr_solver {

extern const solver_entry entry{"lsmr",
                                "least squares for matrices of any shape and rank; |A'r| cannot grow",
                                {.transposed = true},
                                least_squares_minres<cpu::space<double>>::vectors,
                                run_on_device<lsmr_method, double>,
                                run_on_device<lsmr_method, float>,
                                "[:DAMP]"};

} // namespace furrow::lsmr_solver
