// SPDX-License-Identifier: BSD-3-Clause
#include "cg.hpp"

#include "solvers/on_device.hpp"

namespace furrow::cg_solver {

extern const solver_entry entry{"cg",
                                "conjugate gradients, for symmetric positive definite matrices",
                                {{true, true}, {true, true}},
                                fixed_vectors<cg_method, 5>,
                                run_on_device<cg_method, double>,
                                run_on_device<cg_method, float>};

} // namespace furrow::cg_solver
