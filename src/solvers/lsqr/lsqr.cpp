// SPDX-License-Identifier: BSD-3-Clause
#include "lsqr.hpp"

#include "solvers/on_device.hpp"

namespace furrow::lsqr_solver {

extern const solver_entry entry{"lsqr",
                                "least squares for matrices of any shape and rank; |r| cannot grow",
                                {.transposed = true},
                                least_squares_qr<cpu::space<double>>::vectors,
                                run_on_device<lsqr_method, double>,
                                run_on_device<lsqr_method, float>,
                                "[:DAMP]"};

} // namespace furrow::lsqr_solver
