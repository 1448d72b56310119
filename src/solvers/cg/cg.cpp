// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

namespace furrow {

template solve_report run_on_device<cg_method>(device, const linear_system<double>&, const solve_options&);
template solve_report run_on_device<cg_method>(device, const linear_system<float>&, const solve_options&);

namespace cg_solver {

extern const solver_entry entry{"cg",
                                "conjugate gradients, for symmetric positive definite matrices",
                                {{true, true}, {true, true}},
                                fixed_vectors<cg_method, 5>,
                                run_on_device<cg_method, double>,
                                run_on_device<cg_method, float>};

} // namespace cg_solver
} // namespace furrow
