// SPDX-License-Identifier: BSD-3-Clause
#include "fgmres.hpp"

#include "solvers/on_device.hpp"

namespace furrow::fgmres_solver {

extern const solver_entry entry{"fgmres",
                                "GMRES whose preconditioner may be another one in each step",
                                {.flexible = true},
                                restarted_gmres<cpu::space<double>, true>::vectors,
                                run_on_device<fgmres_method, double>,
                                run_on_device<fgmres_method, float>,
                                "[:RESTART]"};

} // namespace furrow::fgmres_solver
