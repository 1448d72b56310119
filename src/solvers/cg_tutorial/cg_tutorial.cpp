// SPDX-License-Identifier: BSD-3-Clause
#include "cg_tutorial.hpp"

#include "solvers/on_device.hpp"

namespace furrow::cg_tutorial_solver {

extern const solver_entry entry{"cg_tutorial",
                                "cg an operation a pass, its scalars on the host: what cg is compared with",
                                {{true, true}, {true, true}},
                                fixed_vectors<cg_tutorial_method, 5>,
                                run_on_device<cg_tutorial_method, double>,
                                run_on_device<cg_tutorial_method, float>,
                                {},
                                "none"};

} // namespace furrow::cg_tutorial_solver
