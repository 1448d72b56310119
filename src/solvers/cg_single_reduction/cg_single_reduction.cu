// SPDX-License-Identifier: BSD-3-Clause
#include "cg_single_reduction.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(cg_single_reduction_method)
