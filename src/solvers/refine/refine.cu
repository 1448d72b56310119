// SPDX-License-Identifier: BSD-3-Clause
#include "refine.hpp"

#include "solvers/on_gpu.hpp"

namespace furrow {
template solve_report run_on_gpu<refine_method>(const linear_system<double>&, const solve_options&);
}
